// Runs code of the host that must not harm the replica: callbacks and observers. An exception is reported once, to
// ReplicaOptions::on_error, is counted in health().warnings, and ends only that one call.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/thrown.h"

namespace coordkit {

class HostCode {
 public:
  using OnError = std::function<void(const absl::Status&)>;
  // How a task gets to the callback thread.
  using Post = std::function<void(absl::AnyInvocable<void()>)>;

  HostCode(OnError on_error, Post post) : on_error_(std::move(on_error)), post_(std::move(post)) {}

  // `what` is the start of the sentence "... threw: ...". Any thread.
  template <typename Call>
  void run(std::string_view what, Call&& call) noexcept {
    try {
      call();
    } catch (...) {
      note(what);
    }
  }
  // One that was caught elsewhere; its sentence is complete.
  void threw(const absl::Status& error);
  // The same function, guarded.
  template <typename... Args>
  std::function<void(Args...)> guarded(std::string what, std::function<void(Args...)> call) {
    if (!call) return call;
    return [this, what = std::move(what), call = std::move(call)](Args... args) { run(what, [&] { call(args...); }); };
  }

  // A sentence for each kind of code that threw, with the newest exception.
  std::vector<std::string> warnings() const;

 private:
  void note(std::string_view what) noexcept;  // within `catch (...)`
  void threw(std::string_view what, std::string_view why);
  void count(const absl::Status& error, std::string kind);

  struct Kind {
    uint64_t times = 0;
    std::string newest;
  };
  const OnError on_error_;
  const Post post_;
  mutable std::mutex mutex_;
  std::map<std::string, Kind> kinds_;
  std::atomic<uint64_t> untold_{0};  // exceptions for whose report there was no memory
};

}  // namespace coordkit

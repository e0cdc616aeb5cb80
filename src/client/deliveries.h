// Everything that runs code of the outside world: answers to callers and announcements. It is collected while the client
// works and run at its end, in order, when the client's own state is whole again; so a callback may call the client.
#pragma once

#include <deque>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "coordkit/client/options.h"

namespace coordkit::client {

class Deliveries {
 public:
  explicit Deliveries(Notifier notify) : notify_(std::move(notify)) {}

  void answer(absl::AnyInvocable<void()> run) { waiting_.push_back({Kind::Answer, std::move(run)}); }
  void announce(absl::AnyInvocable<void()> run) { waiting_.push_back({Kind::Announcement, std::move(run)}); }
  bool empty() const { return waiting_.empty(); }

  // Also runs what is added meanwhile. A nested call (a callback that stops the client) takes over the rest.
  void flush() {
    while (!waiting_.empty()) {
      Item item = std::move(waiting_.front());
      waiting_.pop_front();
      if (item.kind == Kind::Announcement && notify_) {
        notify_(std::move(item.run));
      } else {
        item.run();
      }
    }
  }

 private:
  enum class Kind { Answer, Announcement };
  struct Item {
    Kind kind;
    absl::AnyInvocable<void()> run;
  };
  Notifier notify_;
  std::deque<Item> waiting_;
};

}  // namespace coordkit::client

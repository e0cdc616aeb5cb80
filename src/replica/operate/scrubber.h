// The thread that reads log and checkpoint in full now and then: unread bytes rot unnoticed, until they are the last
// copy. It reads at a set pace and reports to the engine what it found, which rewrites it from memory or leaves it behind.
//
// Threads: now() and stop() from any. After stop() nothing is posted. Lifetime: the stores outlive stop().
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/last_words.h"
#include "base/thread.h"
#include "coordkit/engine/engine.h"
#include "coordkit/ports/log_store.h"
#include "coordkit/ports/state_store.h"

namespace coordkit {

class Scrubber {
 public:
  struct Options {
    Duration every{};  // zero: only when asked
    uint64_t bytes_per_second = 1;
  };
  using Post = std::function<void(EngineInput)>;

  Scrubber(StateStore& state, LogStore& log, Options options, Post post);
  ~Scrubber() { stop(); }

  // A scrub from beginning to end; the first error found, or kUnavailable if stop() came first. kCancelled as soon as
  // `awaited()`, asked now and then, is false: the scrub continues, but nobody waits.
  absl::Status now(absl::FunctionRef<bool()> awaited);
  void stop();

 private:
  void run();
  bool wait();  // until one is due; false: stopped
  absl::Status scrub_guarded() noexcept;
  absl::Status scrub();
  absl::Status scrub_log();
  bool pace(size_t bytes);  // false: stopped

  StateStore& state_;
  LogStore& log_;
  const Options options_;
  const Post post_;
  const LastWords last_words_;

  // Shared with pending log requests, whose answers may come late.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool stopping = false;
    std::optional<LogScrub> part;  // of the log
  };
  class Answer;
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  uint64_t wanted_ = 0;  // how many scrubs were requested, under the mutex
  uint64_t done_ = 0;    // and how many of them are finished
  absl::Status result_;
  std::chrono::steady_clock::time_point earliest_;  // the next read, for the pace
  Thread thread_;                                   // last: it uses the other members
};

}  // namespace coordkit

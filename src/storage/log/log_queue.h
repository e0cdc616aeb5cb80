// The requests to a segmented log store that wait for a thread, and the choice of that thread: the store's own or a lent one. A
// thread is lent for a single write, while the disk is quick and nothing else is to be done. Only one of the two uses the log
// at a time. When it stops it leaves a Rest, which decides what comes next.
//
// Threads: as grouped below.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "coordkit/ports/log_store.h"
#include "storage/log/spare_preparer.h"

namespace coordkit::storage {

class LogQueue {
 public:
  using Clock = std::chrono::steady_clock;

  struct Read {
    Index first;
    Index last;
    size_t bytes_max = 0;
  };
  struct Compact {
    Position through;
  };
  struct Scrub {
    Index from;
    std::function<void(LogScrub)> done;
  };
  struct SpareMade {
    absl::StatusOr<Spare> spare;
  };
  struct Mark {};  // made by the queue itself: it is time for a mark, and nothing else waits
  using Task = std::variant<LogWrite, Read, Compact, Scrub, SpareMade, Mark>;
  using Tasks = std::deque<Task>;

  // Left by a thread that stops working.
  struct Rest {
    std::optional<Clock::time_point> due;  // when there is something to do even if no request arrives; nullopt: never
    bool stalled = false;                  // writes wait for room
    bool quick = false;                    // a lent thread may do the next write
  };

  // ---- any thread
  void post(Task&& task);  // dropped once failed or closed
  // True: takes the write, for the thread that calls next_deferred(). `fits(write)`, asked while no thread uses the log: it
  // needs no other segment.
  template <typename Fits>
  bool defer(LogWrite& write, Fits fits);
  void close();

  // ---- the thread that is lent: false: nothing is left for it. Then it works, and is done().
  bool next_deferred(Tasks& tasks);
  void done(const Rest& rest);

  // ---- the store's own, which works first
  // Waits for work, or until it is due, and adds it to `tasks`. False: closed and nothing is left, or failed.
  bool next(const Rest& rest, Tasks& tasks);

  // ---- the one that is working
  bool failed() const { return failed_; }
  // Nothing more is accepted. False: it had failed before.
  bool fail();
  void drop_all();  // once failed: what still waits

  // The end of a task that is not performed.
  static void drop(const Task& task);

 private:
  enum class Worker : uint8_t { None, Own, Lent };

  bool wanted() const { return closing_ || failed_ || (!waiting_.empty() && !deferred_); }
  void take(Tasks& tasks);

  std::mutex mutex_;
  std::condition_variable wakes_;  // the store's own thread
  Tasks waiting_;
  bool closing_ = false;
  bool failed_ = false;
  Worker worker_ = Worker::Own;
  Rest rest_;                    // while there is none
  bool deferred_ = false;        // a single write is queued and waits for next_deferred()
  bool sleeps_untimed_ = false;  // the store's own thread, until it is woken
};

template <typename Fits>
bool LogQueue::defer(LogWrite& write, Fits fits) {
  const std::lock_guard lock(mutex_);
  const bool idle = worker_ == Worker::None && waiting_.empty() && !closing_ && !failed_;
  if (!idle || !rest_.quick || !fits(std::as_const(write))) return false;
  waiting_.push_back(std::move(write));
  return deferred_ = true;
}

}  // namespace coordkit::storage

// The reports of an observer, one after the other, to be awaited. Watches, mirrors, elections,
// groups, counters and latches become streams for programs built on Boost.Asio. Link
// coordkit::asio.
//
//   WatchStream watch(*replica, WatchOptions::prefix("config/"));
//   absl::StatusOr<WatchBatch> batch = co_await async_next(watch);
//
//   EventStream<LeaderSeen> leaders;
//   const Observation observation = election.observe(leaders.observer());
//   absl::StatusOr<LeaderSeen> seen = co_await async_next(leaders);
//
//   EventStream<MirrorSeen> changes;
//   const Mirror services(*replica, MirrorOptions::prefix("services/"), changes.observer());
//
// Each event goes to one reader, in order. A cancelled read takes no event: the next read gets it.
// Completion, tokens and cancellation are those of asio.h.
//
// Threads: all methods are thread-safe.
// Lifetime: a pending wait ends with Closed when the stream is destroyed. An observer may outlive
// its stream; its later reports are dropped. A stream that was moved from has ended with Closed. A
// WatchStream ends as its Watch does (observation.h), by end() or its destructor. Both wait for a
// reader's handler that runs on the callback thread (one without an executor), unless they are
// called inside it.
// Errors: a stream whose reader is so slow that it is full takes no more events. When all earlier
// events have been read, every further read ends with kResourceExhausted (LimitExceeded). Observe
// again then: a snapshot comes first.
// Example: examples/17_coroutines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/asio/asio.h"
#include "coordkit/error.h"
#include "coordkit/export.h"
#include "coordkit/keys/watch.h"

namespace COORDKIT_EXPORT coordkit {
namespace asio_detail {

// Between the observing thread and the readers. Readers are answered outside the lock.
template <typename Event>
class StreamQueue {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<Event>)>;

  explicit StreamQueue(size_t events_max) : events_max_(events_max) {}

  void push(Event event) {
    std::unique_lock lock(mutex_);
    if (!why_.ok()) return;
    if (events_.size() < events_max_) {
      events_.push_back(std::move(event));
    } else {
      why_ = make_error(Reason::LimitExceeded,
                        "more events wait for the reader of this stream than it may keep (events_max); open a new stream, and "
                        "read it faster or give it more room");
    }
    serve(lock);
  }
  void end(absl::Status why) {
    std::unique_lock lock(mutex_);
    if (why_.ok()) why_ = std::move(why);
    serve(lock);
  }
  // The same, and drops all events that have not been read.
  void close(absl::Status why) {
    std::deque<Event> dropped;
    std::unique_lock lock(mutex_);
    dropped.swap(events_);
    why_ = std::move(why);
    serve(lock);
  }
  uint64_t read(Done done) {
    std::unique_lock lock(mutex_);
    const uint64_t id = ++last_reader_;
    readers_.push_back({id, std::move(done)});
    serve(lock);
    return id;
  }
  void cancel(uint64_t reader) {
    std::unique_lock lock(mutex_);
    const auto found = std::find_if(readers_.begin(), readers_.end(), [&](const Reader& one) { return one.id == reader; });
    if (found == readers_.end()) return;
    Done done = std::move(found->done);
    readers_.erase(found);
    lock.unlock();
    std::move(done)(make_error(Reason::Cancelled, Outcome::NoEffect, "this read was cancelled; the next one has the event"));
  }

 private:
  struct Reader {
    uint64_t id = 0;
    Done done;
  };
  absl::StatusOr<Event> take() {
    if (events_.empty()) return why_;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }
  void serve(std::unique_lock<std::mutex>& lock) {
    while (!readers_.empty() && (!events_.empty() || !why_.ok())) {
      Done done = std::move(readers_.front().done);
      readers_.pop_front();
      absl::StatusOr<Event> answer = take();
      lock.unlock();
      std::move(done)(std::move(answer));
      lock.lock();
    }
  }

  const size_t events_max_;
  std::mutex mutex_;
  std::deque<Event> events_;
  std::deque<Reader> readers_;  // empty while there are events
  absl::Status why_;            // not OK: it has ended
  uint64_t last_reader_ = 0;
};

template <typename Event>
struct Reading {
  std::shared_ptr<StreamQueue<Event>> queue = nullptr;
  uint64_t reader = 0;
  void cancel() const {
    if (queue) queue->cancel(reader);
  }
};

}  // namespace asio_detail

// The reports of one observer as a stream.
template <typename Event>
class EventStream {
 public:
  // How many events may wait for a reader. Legal: 1 and up.
  explicit EventStream(size_t events_max = 1024) : queue_(std::make_shared<Queue>(events_max)) {}
  EventStream(EventStream&&) noexcept = default;
  EventStream& operator=(EventStream&&) = delete;
  ~EventStream() { end(make_error(Reason::Closed, "this stream is gone")); }

  // Makes the function to observe with. It may outlive this stream.
  auto observer() const {
    return [queue = queue_](Event event, const auto&...) {
      if (queue) queue->push(std::move(event));
    };
  }
  // Answers the next event. Every type of cancellation cancels it without effect.
  template <typename Token = DefaultToken>
  auto next(Token&& token = Token()) {
    return asio_detail::initiate<absl::StatusOr<Event>>(
        [queue = queue_](absl::AnyInvocable<void(absl::StatusOr<Event>)> done) {
          if (queue) return asio_detail::Reading<Event>{queue, queue->read(std::move(done))};
          std::move(done)(make_error(Reason::Closed, "this stream was moved from"));
          return asio_detail::Reading<Event>();
        },
        asio_detail::kWithoutEffect, std::forward<Token>(token));
  }
  // From here on no event is taken, and reads end with `why` when all earlier events have been
  // read.
  void end(absl::Status why) {
    const std::shared_ptr<Queue> kept = queue_;  // a reader that is answered may destroy the stream
    if (kept) kept->end(std::move(why));
  }

 private:
  friend class WatchStream;
  using Queue = asio_detail::StreamQueue<Event>;
  std::shared_ptr<Queue> queue_;  // null: moved from
};

// A watch as a stream of its batches. The stream ends as the watch does. kOutOfRange (Compacted)
// says to start a new watch, Stopped that the replica was closed. WatchOptions::room bounds the
// waiting batches, and none of them is lost.
class WatchStream {
 public:
  // Begins to watch. Errors of the options end the reads: EmptyRange, InvalidArgument.
  WatchStream(const Service& service, WatchOptions options)
      : watch_(service, std::move(options), [queue = batches_.queue_](WatchBatch batch) {
          if (batch.what == WatchBatch::What::Ended) return queue->end(batch.why);
          queue->push(std::move(batch));
        }) {}

  void ask_progress() const { watch_.ask_progress(); }  // as Watch::ask_progress()
  // As Watch::end(). Reads end with Closed, including those that have not been answered yet.
  void end() {
    const auto queue = batches_.queue_;  // a reader that is answered may destroy the stream
    watch_.end();
    if (queue) queue->close(make_error(Reason::Closed, "the watch was ended here; make a new one"));
  }
  // Answers the next batch. Completes with `absl::StatusOr<WatchBatch>`. Every type of
  // cancellation cancels it without effect.
  template <typename Token = DefaultToken>
  auto next(Token&& token = Token()) {
    return batches_.next(std::forward<Token>(token));
  }

 private:
  EventStream<WatchBatch> batches_{(std::numeric_limits<size_t>::max)()};
  Watch watch_;
};

// EventStream::next() as a function, like Asio's own operations.
template <typename Event, typename Token = DefaultToken>
auto async_next(EventStream<Event>& stream, Token&& token = Token()) {
  return stream.next(std::forward<Token>(token));
}
// WatchStream::next() as a function, like Asio's own operations.
template <typename Token = DefaultToken>
auto async_next(WatchStream& watch, Token&& token = Token()) {
  return watch.next(std::forward<Token>(token));
}

}  // namespace coordkit

#include "coordkit/watch.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <utility>

#include "replica/coordination.h"
#include "replica/host.h"
#include "replica/until.h"
#include "replica/waiting.h"

namespace coordkit {
namespace {

// Between the callback thread and the readers.
class BatchQueue {
 public:
  void push(WatchBatch batch) {
    const std::lock_guard lock(mutex_);
    if (!end_.ok()) return;
    if (batch.what == WatchBatch::What::Ended) return end(std::move(batch.why));
    batches_.push_back(std::move(batch));
    wake_.notify_one();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    batches_.clear();
    end(make_error(Reason::Closed, "the watch was ended here; make a new one"));
  }
  bool any() {
    const std::lock_guard lock(mutex_);
    return any_locked();
  }
  absl::StatusOr<WatchBatch> take(Duration timeout) {
    std::unique_lock lock(mutex_);
    if (!wait_up_to(wake_, lock, timeout, [this] { return any_locked(); })) {
      return make_error(Reason::CallTimeout, Outcome::NoEffect, "nothing was told in that time; nothing is lost");
    }
    if (batches_.empty()) return end_;
    WatchBatch batch = std::move(batches_.front());
    batches_.pop_front();
    return batch;
  }

 private:
  bool any_locked() const { return !end_.ok() || !batches_.empty(); }
  // For all who wait, and for later callers.
  void end(absl::Status why) {
    end_ = std::move(why);
    wake_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<WatchBatch> batches_;
  absl::Status end_;  // not OK: what follows the batches
};

}  // namespace

struct Watch::Rep {
  explicit Rep(std::shared_ptr<CallRunner> of) : host(std::move(of)) {}
  ~Rep() {
    ended.request_stop();
    host->post([id = id](Client& client) { client.end_watch(*id, [](absl::Status) {}); });
  }
  Rep(const Rep&) = delete;
  Rep& operator=(const Rep&) = delete;

  void start(WatchOptions options, WatchObserver observer) {
    host->call([id = id, options = std::move(options), observer = std::move(observer)](Client& client) mutable {
      *id = client.watch(std::move(options), std::move(observer));
    });
  }

  const std::shared_ptr<CallRunner> host;
  const std::shared_ptr<WatchId> id = std::make_shared<WatchId>();  // known and used on the engine's thread only
  std::stop_source ended;                                           // of the observer, if there is one
  std::shared_ptr<BatchQueue> queue;                                // null: there is an observer
};

Watch::Watch(const Replica& replica, WatchOptions options) : rep_(std::make_shared<Rep>(HandleAccess::host(replica))) {
  rep_->queue = std::make_shared<BatchQueue>();
  rep_->start(std::move(options), [queue = rep_->queue](WatchBatch batch) { queue->push(std::move(batch)); });
}

Watch::Watch(const Replica& replica, WatchOptions options, WatchObserver observer)
    : rep_(std::make_shared<Rep>(HandleAccess::host(replica))) {
  rep_->start(std::move(options), until(rep_->ended, std::move(observer)));
}

absl::StatusOr<WatchBatch> Watch::next(Duration timeout) {
  if (!rep_) return make_error(Reason::Closed, "this watch watches nothing: make it of a replica");
  if (!rep_->queue) return make_error(Reason::InvalidArgument, "the batches of this watch go to its observer");
  if (rep_->host->forked()) return forked_away();
  if (rep_->host->on_engine_thread() || rep_->host->on_callback_thread()) return would_wait_for_itself();
  rep_->host->before_waiting([queue = rep_->queue.get()] { return queue->any(); });
  return rep_->queue->take(std::max(timeout, Duration::zero()));
}

void Watch::ask_progress() const {
  if (rep_) rep_->host->post([id = rep_->id](Client& client) { client.ask_progress(*id); });
}

absl::Status Watch::end() {
  if (!rep_) return make_error(Reason::WatchNotFound, "this watch watches nothing");
  return wait_for_done(*rep_->host, [rep = rep_.get()](Client& client, DoneCallback done) {
    rep->ended.request_stop();
    if (rep->queue) rep->queue->close();
    client.end_watch(*rep->id, std::move(done));
  });
}

}  // namespace coordkit

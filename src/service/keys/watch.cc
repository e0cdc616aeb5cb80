#include "coordkit/keys/watch.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "service/calls/subscription.h"
#include "service/calls/waiting.h"
#include "service/objects/object_access.h"
#include "service/shell/host.h"

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
  // The watch has gone without a word: memory ran out.
  void abandon(absl::Status why) {
    const std::lock_guard lock(mutex_);
    if (end_.ok()) end(std::move(why));
  }
  void close() {
    const std::lock_guard lock(mutex_);
    batches_.clear();  // they are not read any more
    end(make_error(Reason::Closed, "the watch was ended here; make a new one"));
  }
  bool any() {
    const std::lock_guard lock(mutex_);
    return any_locked();
  }
  absl::StatusOr<WatchBatch> take(Duration timeout) {
    std::unique_lock lock(mutex_);
    if (!wait_up_to(wake_, lock, timeout, [this] { return any_locked(); })) {
      return make_error(Reason::CallTimeout, Outcome::NoEffect, "no event came in that time; nothing is lost");
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

// Held by an observer that fills the queue: ends it when the observer goes.
class QueueEnd {
 public:
  QueueEnd(std::shared_ptr<BatchQueue> queue, std::shared_ptr<CallRunner> host)
      : queue_(std::move(queue)), host_(std::move(host)) {}
  QueueEnd(QueueEnd&&) noexcept = default;
  QueueEnd& operator=(QueueEnd&&) = delete;
  ~QueueEnd() {
    if (queue_ && !host_->forked()) queue_->abandon(host_->unanswered());
  }

 private:
  std::shared_ptr<BatchQueue> queue_;
  std::shared_ptr<CallRunner> host_;
};

}  // namespace

struct Watch::Rep {
  explicit Rep(std::shared_ptr<CallRunner> of) : host(std::move(of)) {}

  // Batches go to `stream` by way of `observer`.
  void start(WatchOptions options, std::shared_ptr<CallbackStream> stream, WatchObserver observer) {
    subscription.emplace(host, std::move(stream), [id = id](Client& client) { client.end_watch(*id, [](absl::Status) {}); });
    host->call([id = id, options = std::move(options), observer = std::move(observer)](Client& client) mutable {
      *id = client.watch(std::move(options), std::move(observer));
    });
  }
  template <typename Callback>
  void start(WatchOptions options, Callback callback) {
    auto listener = std::make_shared<Listener<WatchBatch>>(std::move(callback));
    start(std::move(options), listener, [listener](WatchBatch batch) { listener->tell(std::move(batch)); });
  }

  const std::shared_ptr<CallRunner> host;
  const std::shared_ptr<WatchId> id = std::make_shared<WatchId>();  // known and used on the engine's thread only
  std::shared_ptr<BatchQueue> queue;                                // null: there is an observer
  std::optional<Subscription> subscription;                         // from start() on
};

Watch::Watch() = default;
Watch::Watch(Watch&&) noexcept = default;
Watch& Watch::operator=(Watch&&) noexcept = default;
Watch::~Watch() = default;

Watch::Watch(const Service& service, WatchOptions options) : rep_(std::make_unique<Rep>(HandleAccess::host(service))) {
  rep_->queue = std::make_shared<BatchQueue>();
  auto listener =
      std::make_shared<Listener<WatchBatch>>([queue = rep_->queue](WatchBatch batch) { queue->push(std::move(batch)); });
  rep_->start(std::move(options), listener,
              [listener, end = QueueEnd(rep_->queue, rep_->host)](WatchBatch batch) { listener->tell(std::move(batch)); });
}

Watch::Watch(const Service& service, WatchOptions options, WatchObserver observer)
    : rep_(std::make_unique<Rep>(HandleAccess::host(service))) {
  rep_->start(std::move(options), std::move(observer));
}

absl::StatusOr<WatchBatch> Watch::next(Duration timeout) {
  if (!rep_) return make_error(Reason::Closed, "this watch watches nothing: make it of a replica or a remote");
  if (!rep_->queue) return make_error(Reason::InvalidArgument, "the batches of this watch go to its observer");
  if (absl::Status refused = refusal_to_wait(*rep_->host); !refused.ok()) return refused;
  if (rep_->host->on_callback_thread()) return would_wait_for_itself();
  timeout = std::max(timeout, Duration::zero());
  const bool waited =
      rep_->host->wait_here([queue = rep_->queue.get()] { return queue->any(); }, rep_->host->deadline(timeout));
  return rep_->queue->take(waited ? Duration::zero() : timeout);
}

void Watch::ask_progress() const {
  if (rep_) rep_->host->post([id = rep_->id](Client& client) { client.ask_progress(*id); });
}

void Watch::end() {
  if (!rep_) return;
  // First the readers: once the client forgets the watch, its observer goes, and would tell them that memory ran out.
  if (rep_->queue && !rep_->host->forked()) rep_->queue->close();
  rep_->subscription->end();
}

}  // namespace coordkit

#include "bench/cluster/watch_load.h"

#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "bench/cluster/kv_load.h"
#include "bench/cluster/load_loop.h"
#include "coordkit/keys/kv.h"
#include "coordkit/keys/watch.h"

namespace coordkit::bench {
namespace {

constexpr std::string_view kPrefix = "key-";

class WatchLoad : public std::enable_shared_from_this<WatchLoad> {
 public:
  WatchLoad(Service& service, const LoadOptions& options)
      : kv_(service), options_(options), started_(options.callers), undelivered_(4 * options.callers) {
    for (Undelivered& change : undelivered_) change.left = options.watchers + 1;
  }

  void watch(const Service& service) {
    watches_.reserve(options_.watchers);
    for (size_t i = 0; i < options_.watchers; ++i) {
      watches_.emplace_back(service, WatchOptions::prefix(std::string(kPrefix)),
                            [self = shared_from_this()](const WatchBatch& batch) { self->received(batch); });
    }
  }

  nlohmann::ordered_json run() {
    loop_.emplace(options_.callers, Seconds(options_.warmup_s), Seconds(options_.seconds));
    for (size_t caller = 0; caller < started_.size(); ++caller) put(caller);
    nlohmann::ordered_json result = loop_->wait();
    result["watchers"] = options_.watchers;
    result["events_per_s"] = std::round(result["cycles_per_s"].get<double>() * static_cast<double>(options_.watchers));
    return result;
  }

  // Their observers keep this alive.
  void end_watches() { watches_.clear(); }

  bool all_stand() const { return standing_ == options_.watchers; }

 private:
  // A change that not every watcher has received. Without locks: puts are answered by the engine's thread, which must not wait
  // for the one that notifies ten thousand watchers.
  struct Undelivered {
    std::atomic<size_t> left{0};  // watchers to be notified, plus the put to be answered
    size_t caller = 0;            // known when the put is answered
  };

  void put(size_t caller) {
    if (loop_->over()) return loop_->caller_ended();
    started_[caller] = Clock::now();
    kv_.put_async({.key = key_of(caller), .value = std::string(kSixteenBytes)}, {},
                  [self = shared_from_this(), caller](const absl::StatusOr<PutResult>& answer) {
                    if (answer.ok()) return self->answered(answer->revision, caller);
                    self->loop_->error(answer.status());
                    self->put(caller);
                  });
  }

  void received(const WatchBatch& batch) {
    if (batch.what == WatchBatch::What::Created) ++standing_;
    if (batch.what == WatchBatch::What::Ended && loop_ && !loop_->over()) loop_->error(batch.why);
    if (batch.what != WatchBatch::What::Events) return;
    for (const WatchEvent& event : batch.events) one_less(event.entry.mod);
  }
  void answered(Revision revision, size_t caller) {
    undelivered(revision).caller = caller;
    one_less(revision);
  }
  // Only the last one does more than counting.
  void one_less(Revision revision) {
    Undelivered& change = undelivered(revision);
    if (change.left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const size_t caller = change.caller;
    change.left.store(options_.watchers + 1, std::memory_order_release);  // for a later revision in the same slot
    loop_->cycle(started_[caller], Clock::now());
    put(caller);
  }
  // Puts are applied, answered and delivered in the order of their revisions, and each caller has one in progress.
  Undelivered& undelivered(Revision revision) { return undelivered_[revision.value() % undelivered_.size()]; }

  Kv kv_;
  const LoadOptions options_;
  std::optional<LoadLoop> loop_;    // from the moment all watches are established
  std::vector<TimePoint> started_;  // the put that each caller has in progress
  std::vector<Undelivered> undelivered_;
  std::atomic<size_t> standing_{0};
  std::vector<Watch> watches_;
};

}  // namespace

nlohmann::ordered_json run_watch_load(Service& service, const LoadOptions& options) {
  const auto load = std::make_shared<WatchLoad>(service, options);
  load->watch(service);
  const TimePoint deadline = Clock::now() + std::chrono::seconds(10);
  while (!load->all_stand() && Clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  nlohmann::ordered_json result{{"errors", 1}, {"first_error", "the watches are not open"}};
  if (load->all_stand()) result = load->run();
  load->end_watches();
  return result;
}

}  // namespace coordkit::bench

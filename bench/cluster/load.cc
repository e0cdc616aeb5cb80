#include "bench/cluster/load.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "bench/cluster/measure.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

constexpr size_t kErrorsMax = 100;  // of one load; a broken cluster must not be hammered for the rest of the window

// What all callers of a load share.
class Load {
 public:
  Load(Session session, const LoadOptions& options)
      : session_(std::move(session)),
        options_(options),
        window_(Window::after(Seconds(options.warmup_s), Seconds(options.seconds))),
        cycles_(1 << 20),
        running_(options.callers) {}

  Session& session() { return session_; }
  bool over() const { return Clock::now() >= window_.end || errors_.load(std::memory_order_relaxed) >= kErrorsMax; }
  std::string lock_of(size_t caller) const { return options_.suite == "lock" ? "lock-" + std::to_string(caller) : "lock"; }

  void cycle(TimePoint from, TimePoint to) {
    if (!window_.contains(from, to)) return;
    const std::lock_guard lock(mutex_);
    cycles_.add(from, to);
  }

  void error(const absl::Status& status) {
    errors_.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (first_error_.empty()) first_error_ = status.ToString();
  }

  // Hand-off: who holds says when it lets go, who is next says when it knows.
  void entered() {
    if (inside_.fetch_add(1) != 0) error(absl::InternalError("two holders at once"));
    const TimePoint left = left_.exchange(TimePoint{});
    if (left != TimePoint{}) cycle(left, Clock::now());
  }
  void leaving() {
    inside_.fetch_sub(1);
    left_ = Clock::now();
  }

  void caller_ended() {
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) all_ended_.notify_all();
  }

  nlohmann::ordered_json wait() {
    std::unique_lock lock(mutex_);
    if (!all_ended_.wait_until(lock, window_.end + 30s, [&] { return running_ == 0; })) {
      errors_ += running_;
      if (first_error_.empty()) first_error_ = "callers are stuck";
    }
    nlohmann::ordered_json result = summary(cycles_, Seconds(options_.seconds));
    result["errors"] = errors_.load();
    if (!first_error_.empty()) result["first_error"] = first_error_;
    return result;
  }

 private:
  Session session_;
  const LoadOptions options_;
  const Window window_;
  std::atomic<size_t> errors_{0};
  std::atomic<int> inside_{0};
  std::atomic<TimePoint> left_{TimePoint{}};

  std::mutex mutex_;  // of what follows; without contention when the callers are on the engine's thread
  Latencies cycles_;
  std::string first_error_;
  size_t running_;
  std::condition_variable all_ended_;
};

using LoadRef = std::shared_ptr<Load>;

// One caller as a chain of callbacks. It keeps itself alive until its last one.
class AsyncCaller : public std::enable_shared_from_this<AsyncCaller> {
 public:
  AsyncCaller(LoadRef load, size_t number, bool handoff)
      : load_(std::move(load)), lock_(load_->lock_of(number)), owner_(std::to_string(number)), handoff_(handoff) {}

  void acquire() {
    if (load_->over()) return load_->caller_ended();
    started_ = Clock::now();
    load_->session().acquire_async(lock_, {.owner = owner_}, [self = shared_from_this()](absl::StatusOr<Grant> grant) {
      self->acquired(std::move(grant));
    });
  }

 private:
  void acquired(absl::StatusOr<Grant> grant) {
    if (!grant.ok()) {
      load_->error(grant.status());
      return acquire();
    }
    if (handoff_) load_->entered();
    grant_ = *std::move(grant);
    if (handoff_) load_->leaving();
    grant_.release_async([self = shared_from_this()](absl::Status status) { self->released(status); });
  }

  void released(const absl::Status& status) {
    if (!status.ok()) load_->error(status);
    if (!handoff_ && status.ok()) load_->cycle(started_, Clock::now());
    acquire();
  }

  const LoadRef load_;
  const std::string lock_;
  const std::string owner_;
  const bool handoff_;
  TimePoint started_;
  Grant grant_;
};

void blocking_caller(Load& load, size_t number, bool handoff) {
  const std::string name = load.lock_of(number);
  const std::string owner = std::to_string(number);
  while (!load.over()) {
    const TimePoint started = Clock::now();
    absl::StatusOr<Grant> grant = load.session().acquire(name, {.owner = owner});
    if (!grant.ok()) {
      load.error(grant.status());
      continue;
    }
    if (handoff) {
      load.entered();
      load.leaving();
    }
    const absl::Status released = grant->release();
    if (!released.ok()) load.error(released);
    if (!handoff && released.ok()) load.cycle(started, Clock::now());
  }
  load.caller_ended();
}

}  // namespace

void to_json(nlohmann::json& json, const LoadOptions& options) {
  json = {{"suite", options.suite},
          {"where", options.where},
          {"callers", options.callers},
          {"warmup", options.warmup_s},
          {"seconds", options.seconds}};
}

void from_json(const nlohmann::json& json, LoadOptions& options) {
  json.at("suite").get_to(options.suite);
  json.at("where").get_to(options.where);
  json.at("callers").get_to(options.callers);
  json.at("warmup").get_to(options.warmup_s);
  json.at("seconds").get_to(options.seconds);
}

nlohmann::ordered_json run_load(Replica& replica, const LoadOptions& options) {
  absl::StatusOr<Session> session = replica.open_session({.ttl = 10s});
  if (!session.ok()) return {{"errors", 1}, {"first_error", session.status().ToString()}};
  const bool handoff = options.suite == "handoff";
  const auto load = std::make_shared<Load>(*session, options);
  std::vector<std::thread> threads;
  for (size_t number = 0; number < options.callers; ++number) {
    if (options.where == "blocking") {
      threads.emplace_back([&, number] { blocking_caller(*load, number, handoff); });
    } else {
      std::make_shared<AsyncCaller>(load, number, handoff)->acquire();
    }
  }
  nlohmann::ordered_json result = load->wait();
  session->close().IgnoreError();  // stuck callers are answered by this
  for (std::thread& thread : threads) thread.join();
  return result;
}

}  // namespace coordkit::bench

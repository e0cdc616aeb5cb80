#include "bench/cluster/load.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/random.h"
#include "bench/cluster/kv_load.h"
#include "bench/cluster/load_loop.h"
#include "bench/cluster/overload.h"
#include "bench/cluster/renewals_load.h"
#include "bench/cluster/sticky_load.h"
#include "bench/cluster/watch_load.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

// What all callers of a load share.
class Load : public LoadLoop {
 public:
  Load(Session session, const LoadOptions& options)
      : LoadLoop(options.callers, Seconds(options.warmup_s), Seconds(options.seconds), options.per_s),
        session_(std::move(session)),
        kind_(kind_of(options.kind)) {}

  Session& session() { return session_; }
  const Kind& kind() const { return kind_; }
  std::string lock_of(size_t caller) const { return kind_.one_lock ? "lock" : "lock-" + std::to_string(caller); }

  // One lock for all: an exclusive holder weighs as much as all shared ones. In a hand-off, the holder reports its release,
  // the next one when it knows.
  void entered(LockMode mode) {
    const int weight = weight_of(mode);
    if (const int before = inside_.fetch_add(weight); before + weight > kAlone) {
      error(absl::InternalError("two holders at once"));
    }
    if (!kind_.cycle_is_handoff) return;
    const TimePoint left = left_.exchange(TimePoint{});
    if (left != TimePoint{}) cycle(left, Clock::now());
  }
  void leaving(LockMode mode) {
    inside_.fetch_sub(weight_of(mode));
    left_ = Clock::now();
  }

 private:
  static constexpr int kAlone = 1 << 20;
  static int weight_of(LockMode mode) { return mode == LockMode::Exclusive ? kAlone : 1; }

  Session session_;
  const Kind& kind_;
  std::atomic<int> inside_{0};
  std::atomic<TimePoint> left_{TimePoint{}};
};

using LoadRef = std::shared_ptr<Load>;

// What one caller does, over and over.
class Cycle {
 public:
  Cycle(Load& load, size_t number)
      : load_(load), lock_(load.lock_of(number)), owner_(std::to_string(number)), random_(number) {}

  const std::string& lock() const { return lock_; }
  LockOptions begin(TimePoint from) {
    started_ = from;
    mode_ = random_.below(100) < load_.kind().read_percent ? LockMode::Shared : LockMode::Exclusive;
    return {.owner = owner_, .mode = mode_};
  }
  void granted() {
    if (load_.kind().one_lock) {
      load_.entered(mode_);
      load_.leaving(mode_);
    }
    if (!load_.kind().waits) load_.cycle(started_, Clock::now());
  }
  void released(const absl::Status& status) {
    if (!status.ok()) return load_.error(status);
    if (!load_.kind().cycle_is_handoff) load_.cycle(started_, Clock::now());
  }

 private:
  Load& load_;
  const std::string lock_;
  const std::string owner_;
  Random random_;
  LockMode mode_ = LockMode::Exclusive;
  TimePoint started_;
};

// One caller as a chain of callbacks. It keeps itself alive until its last one.
class AsyncCaller : public std::enable_shared_from_this<AsyncCaller> {
 public:
  AsyncCaller(LoadRef load, size_t number) : load_(std::move(load)), cycle_(*load_, number) {}

  void next() {
    load_->next([self = shared_from_this()](TimePoint from) { self->acquire(from); });
  }

 private:
  void acquire(TimePoint from) {
    load_->session().acquire_async(cycle_.lock(), cycle_.begin(from), [self = shared_from_this()](absl::StatusOr<Grant> grant) {
      self->acquired(std::move(grant));
    });
  }
  void acquired(absl::StatusOr<Grant> grant) {
    if (!grant.ok()) {
      load_->error(grant.status());
      return next();
    }
    cycle_.granted();
    grant_ = *std::move(grant);
    if (!load_->kind().waits) {
      grant_.release_later();
      return next();
    }
    grant_.release_async([self = shared_from_this()](absl::Status status) {
      self->cycle_.released(status);
      self->next();
    });
  }

  const LoadRef load_;
  Cycle cycle_;
  Grant grant_;
};

void blocking_caller(Load& load, size_t number) {
  Cycle cycle(load, number);
  while (!load.over()) {
    absl::StatusOr<Grant> grant = load.session().acquire(cycle.lock(), cycle.begin(Clock::now()));
    if (!grant.ok()) {
      load.error(grant.status());
      continue;
    }
    cycle.granted();
    load.kind().waits ? cycle.released(grant->release()) : grant->release_later();
  }
  load.caller_ended();
}

}  // namespace

const Kind& kind_of(std::string_view name) {
  const auto* const found = std::ranges::find(kKinds, name, &Kind::name);
  if (found == kKinds.end()) throw std::out_of_range("no kind of load is called " + std::string(name));
  return *found;
}

std::vector<std::string> kinds_of(std::string_view suite) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) {
    if (kind.suite == suite) names.emplace_back(kind.name);
  }
  return names;
}

void to_json(nlohmann::json& json, const LoadOptions& options) {
  json = {{"kind", options.kind},          {"where", options.where},       {"callers", options.callers},
          {"per_s", options.per_s},        {"warmup", options.warmup_s},   {"seconds", options.seconds},
          {"watchers", options.watchers},  {"sessions", options.sessions}, {"times", options.times},
          {"timeout_s", options.timeout_s}};
}

void from_json(const nlohmann::json& json, LoadOptions& options) {
  json.at("kind").get_to(options.kind);
  json.at("where").get_to(options.where);
  json.at("callers").get_to(options.callers);
  json.at("per_s").get_to(options.per_s);
  json.at("warmup").get_to(options.warmup_s);
  json.at("seconds").get_to(options.seconds);
  json.at("watchers").get_to(options.watchers);
  json.at("sessions").get_to(options.sessions);
  json.at("times").get_to(options.times);
  json.at("timeout_s").get_to(options.timeout_s);
}

nlohmann::ordered_json run_load(Service& service, const LoadOptions& options) {
  if (options.kind == "sticky") return run_sticky_load(service, options.callers, options.warmup_s, options.seconds);
  if (options.kind == "renewals") return run_renewals_load(service, options);
  if (options.kind == "overload") return run_overload(service, options);
  if (kind_of(options.kind).suite == "watch") return run_watch_load(service, options);
  if (kind_of(options.kind).suite == "kv") return run_kv_load(service, options);
  absl::StatusOr<Session> session = service.open_session({.ttl = 10s});
  if (!session.ok()) return {{"errors", 1}, {"first_error", session.status().ToString()}};
  const auto load = std::make_shared<Load>(*session, options);
  std::vector<std::thread> threads;
  for (size_t number = 0; number < options.callers; ++number) {
    if (options.where == "blocking") {
      threads.emplace_back([&, number] { blocking_caller(*load, number); });
    } else {
      std::make_shared<AsyncCaller>(load, number)->next();
    }
  }
  nlohmann::ordered_json result = load->wait();
  session->close().IgnoreError();  // this answers stuck callers
  for (std::thread& thread : threads) thread.join();
  return result;
}

}  // namespace coordkit::bench

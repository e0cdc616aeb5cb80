#include "bench/cluster/sticky_load.h"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/cluster/measure.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kCyclesAtOnce = 1000;

class StickyLoad {
 public:
  StickyLoad(Session session, Window window) : session_(std::move(session)), window_(window) {}

  void caller(size_t number) {
    const std::string name = "lock-" + std::to_string(number);
    Latencies means;
    uint64_t cycles = 0;
    while (Clock::now() < window_.end && !failed_) {
      const TimePoint from = Clock::now();
      for (int i = 0; i < kCyclesAtOnce; ++i) cycle(name);
      const TimePoint to = Clock::now();
      if (!window_.contains(from, to)) continue;
      means.add(from, from + (to - from) / kCyclesAtOnce);
      cycles += kCyclesAtOnce;
    }
    const std::lock_guard lock(mutex_);
    means_.add(means);
    cycles_ += cycles;
  }

  nlohmann::ordered_json result(Seconds length) {
    nlohmann::ordered_json result = {{"cycles_per_s", static_cast<uint64_t>(static_cast<double>(cycles_) / length.count())},
                                     {"p50_us", means_.quantile(0.5)},
                                     {"p99_us", means_.quantile(0.99)},
                                     {"p999_us", means_.quantile(0.999)},
                                     {"errors", failed_ ? 1 : 0}};
    if (!first_error_.empty()) result["first_error"] = first_error_;
    return result;
  }

 private:
  void cycle(const std::string& name) {
    absl::StatusOr<Grant> grant = session_.acquire(name, {.timeout = 10s, .sticky = true});
    const absl::Status status = grant.ok() ? grant->release() : grant.status();
    if (status.ok() || failed_.exchange(true)) return;
    const std::lock_guard lock(mutex_);
    first_error_ = status.ToString();
  }

  Session session_;
  const Window window_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  // guards the members below
  Latencies means_;
  uint64_t cycles_ = 0;
  std::string first_error_;
};

}  // namespace

nlohmann::ordered_json run_sticky_load(Service& service, size_t callers, double warmup_s, double seconds) {
  absl::StatusOr<Session> session = service.open_session({.ttl = 10s});
  if (!session.ok()) return {{"errors", 1}, {"first_error", session.status().ToString()}};
  StickyLoad load(*session, Window::after(Seconds(warmup_s), Seconds(seconds)));
  std::vector<std::thread> threads;
  for (size_t number = 0; number < callers; ++number) threads.emplace_back([&load, number] { load.caller(number); });
  for (std::thread& thread : threads) thread.join();
  session->close().IgnoreError();
  return load.result(Seconds(seconds));
}

}  // namespace coordkit::bench

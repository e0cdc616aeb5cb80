#include "bench/cluster/overload.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bench/cluster/flood.h"
#include "bench/cluster/kv_load.h"
#include "bench/cluster/measure.h"
#include "bench/cluster/sessions.h"
#include "coordkit/keys/kv.h"
#include "tools/support/memory_use.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;
using nlohmann::ordered_json;

constexpr std::array<size_t, 3> kCallerCounts = {64, 256, 1024};
constexpr double kLookSeconds = 5;
constexpr Duration kSessionTtl = 2s;
constexpr auto kSlice = 100ms;
constexpr auto kRecoveryLimit = 10s;
constexpr double kRecovered = 0.9;

// Callers with one put in progress each, of the same kind as those of the flood, and how many were done so far.
class Callers : public std::enable_shared_from_this<Callers> {
 public:
  Callers(Service& service, size_t count) : kv_(service), running_(count) {}

  void start() {
    std::vector<PutOperation> first(running_);
    for (PutOperation& put : first) put = puts_.next();
    for (PutOperation& put : first) make(std::move(put));
  }
  uint64_t done() const { return done_; }
  void stop() {
    over_ = true;
    while (running_ > 0) std::this_thread::sleep_for(1ms);
  }

 private:
  void make(PutOperation put) {
    kv_.put_async(std::move(put), {}, [self = shared_from_this()](const absl::StatusOr<PutResult>& answer) {
      if (answer.ok()) ++self->done_;
      self->over_ ? self->ended() : self->make(self->puts_.next());
    });
  }
  void ended() { --running_; }

  Kv kv_;
  RandomPuts puts_{2};  // the callbacks draw from it, all on the engine's thread
  std::atomic<bool> over_{false};
  std::atomic<uint64_t> done_{0};
  std::atomic<size_t> running_;
};

double milliseconds(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

// The bound below which 99 of 100 renewals between two readings were answered.
double p99_between(const WaitTimes& before, const WaitTimes& after) {
  const uint64_t count = after.count() - before.count();
  uint64_t seen = 0;
  for (size_t i = 0; i < WaitTimes::kBuckets; ++i) {
    seen += after.buckets()[i] - before.buckets()[i];
    if (count > 0 && seen * 100 >= count * 99) return milliseconds(std::min(WaitTimes::upper(i), after.longest()));
  }
  return -1;
}

class Overload {
 public:
  Overload(Service& service, const LoadOptions& options)
      : service_(service), options_(options), sessions_(std::make_shared<Sessions>(service, options.sessions, kSessionTtl)) {}

  ordered_json run() {
    if (const absl::Status opened = sessions_->open(); !opened.ok()) return {{"errors", 1}, {"first_error", opened.ToString()}};
    const WaitTimes idle = renewals();
    sustain();
    const WaitTimes before = renewals();
    line_["memory_mib_before"] = support::memory_of(getpid()).anonymous;
    offer();
    const WaitTimes after = renewals();
    recover();
    line_["renewal_p99_ms_before"] = one_digit(p99_between(idle, before));
    line_["renewal_p99_ms_during"] = one_digit(p99_between(before, after));
    line_["sessions"] = options_.sessions;
    line_["lost"] = options_.sessions - sessions_->valid();
    line_["errors"] = line_["lost"].get<uint64_t>() + answers_.unknown();
    return line_;
  }

 private:
  void sustain() {
    for (const size_t callers : kCallerCounts) {
      const double rate = rate_of(callers);
      if (rate <= best_) continue;
      best_ = rate;
      callers_ = callers;
    }
    line_["sustainable_per_s"] = std::round(best_);
    line_["sustainable_callers"] = callers_;
    const FloodIntoNothing beside(best_ * options_.times);
    best_beside_ = rate_of(callers_);
    line_["sustainable_beside_per_s"] = std::round(best_beside_);
  }

  double rate_of(size_t callers) {
    const auto load = std::make_shared<Callers>(service_, callers);
    load->start();
    std::this_thread::sleep_for(1s);
    const uint64_t before = load->done();
    std::this_thread::sleep_for(Seconds(kLookSeconds));
    const uint64_t after = load->done();
    load->stop();
    return static_cast<double>(after - before) / kLookSeconds;
  }

  void offer() {
    Kv kv(service_);
    const Flood flood{best_ * options_.times, options_.seconds};
    const ProposeOptions options{.timeout = std::chrono::ceil<Duration>(Seconds(options_.timeout_s))};
    uint64_t done_before = 0, worst = UINT64_MAX;
    const Flood::Made made = flood.make(
        [&](PutOperation put, Callback<PutResult> done) { kv.put_async(std::move(put), options, std::move(done)); }, answers_,
        [&] {
          const uint64_t done = answers_.done();
          worst = std::min(worst, done - std::exchange(done_before, done));
          peak_mib_ = std::max(peak_mib_, support::memory_of(getpid()).anonymous);
          if (const absl::StatusOr<Metrics> seen = service_.metrics(); seen.ok()) look(*seen);
        });
    ended_ = Clock::now();
    const double goodput = static_cast<double>(answers_.done()) / made.took_s;
    line_["offered_per_s"] = std::round(static_cast<double>(made.offered) / made.took_s);
    line_["offering_cores"] = two_digits(made.processor_s / made.took_s);
    line_["goodput_per_s"] = std::round(goodput);
    line_["of_sustainable"] = two_digits(goodput / best_);
    line_["of_sustainable_beside"] = two_digits(goodput / best_beside_);
    line_["worst_second_per_s"] = worst;
    line_["memory_mib_peak"] = peak_mib_;
  }

  void look(const Metrics& seen) {
    const auto larger = [this](const char* name, double value) {
      line_[name] = std::max(line_.value(name, 0.0), one_digit(value));
    };
    larger("changes_peak", static_cast<double>(seen.memory.contents.changes));
    larger("arrivals_waiting_peak", static_cast<double>(seen.turns.waiting));
    larger("request_mib_peak", static_cast<double>(seen.memory.request_bytes) / (1 << 20));
    larger("log_mib_peak", static_cast<double>(seen.memory.log_bytes) / (1 << 20));
    larger("turn_longest_ms", milliseconds(seen.turns.took.longest()));
    larger("turn_p99_ms", milliseconds(seen.turns.took.percentile(99)));
    larger("log_durable_p99_ms", milliseconds(seen.log.durable.percentile(99)));
    larger("leaders", static_cast<double>(seen.consensus.leaders));
  }

  void recover() {
    const auto load = std::make_shared<Callers>(service_, callers_);
    load->start();
    double recovered = -1;
    uint64_t before = 0;
    for (TimePoint slice = ended_ + kSlice; slice < ended_ + kRecoveryLimit && recovered < 0; slice += kSlice) {
      std::this_thread::sleep_until(slice);
      const uint64_t done = load->done();
      const double rate = static_cast<double>(done - std::exchange(before, done)) / Seconds(kSlice).count();
      if (rate >= kRecovered * best_) recovered = Seconds(Clock::now() - ended_).count() * 1000;
    }
    load->stop();
    answers_.wait_for_all();
    answers_.tell(line_);
    line_["recovered_ms"] = std::round(recovered);
  }

  WaitTimes renewals() const {
    const absl::StatusOr<Metrics> metrics = service_.metrics();
    return metrics.ok() ? metrics->renewals.answered : WaitTimes();
  }

  Service& service_;
  const LoadOptions options_;
  const std::shared_ptr<Sessions> sessions_;
  double best_ = 0, best_beside_ = 0;
  size_t callers_ = 0;
  uint64_t peak_mib_ = 0;
  TimePoint ended_;
  Answers answers_;  // of calls that end before this object
  ordered_json line_;
};

}  // namespace

ordered_json run_overload(Service& service, const LoadOptions& options) { return Overload(service, options).run(); }

}  // namespace coordkit::bench

#include "bench/cluster/flood.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "bench/cluster/kv_load.h"
#include "bench/cluster/processor_time.h"
#include "coordkit/error.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kTick = 1ms;
constexpr uint64_t kTickMost = 10'000;  // then the clock is read again

// Calls `offer(from)` as often as due, until `over()`.
template <typename Offer, typename Over, typename Tick>
uint64_t offer_on_time(double per_s, TimePoint start, Offer offer, Over over, Tick ticked) {
  uint64_t offered = 0;
  for (TimePoint now = start; !over(now); now = Clock::now()) {
    const auto due = static_cast<uint64_t>(per_s * Seconds(now - start).count());
    for (const uint64_t until = std::min(due, offered + kTickMost); offered < until; ++offered) offer(now);
    ticked(now);
    std::this_thread::sleep_until(now + kTick);
  }
  return offered;
}

// Two words, so that it needs no allocation.
struct Answered {
  Answers* answers;
  TimePoint from;
  void operator()(const absl::StatusOr<PutResult>& answer) const { answers->add(answer, from); }
};

}  // namespace

// ---- RandomPuts

PutOperation RandomPuts::next() { return {.key = draw_key(random_), .value = std::string(kSixteenBytes)}; }

// ---- Answers

void Answers::add(const absl::StatusOr<PutResult>& answer, TimePoint from) {
  if (answer.ok()) {
    took_.add(Clock::now() - from);
    done_.fetch_add(1, std::memory_order_relaxed);
  } else if (absl::IsResourceExhausted(answer.status())) {
    crowded_out_.fetch_add(1, std::memory_order_relaxed);
  } else {
    other(answer.status());
  }
  under_way_.fetch_sub(1, std::memory_order_release);
}

void Answers::other(const absl::Status& status) {
  const std::optional<Reason> reason = reason_of(status);
  const std::lock_guard lock(mutex_);
  ++others_[reason ? std::string(name_of(*reason)) : status.ToString()];
  if (outcome_of(status) == Outcome::Unknown) ++unknown_;
}

void Answers::wait_for_all() const {
  while (under_way_.load(std::memory_order_acquire) > 0) std::this_thread::sleep_for(1ms);
}

void Answers::tell(nlohmann::ordered_json& line) const {
  std::map<std::string, uint64_t> refused = others_;
  refused["TooManyRequests"] = crowded_out_;
  line["refused"] = refused;
  line["unknown"] = unknown_;
  line["put_p50_us"] = std::chrono::duration<double, std::micro>(took_.percentile(50)).count();
  line["put_p99_us"] = std::chrono::duration<double, std::micro>(took_.percentile(99)).count();
}

// ---- floods

Flood::Made Flood::make(Sink sink, Answers& answers, absl::FunctionRef<void()> each_second) const {
  RandomPuts puts(1);
  const double used = processor_seconds();
  const TimePoint start = Clock::now();
  TimePoint next_second = start + 1s;
  Made made;
  made.offered = offer_on_time(
      per_s, start,
      [&](TimePoint from) {
        answers.offered();
        sink(puts.next(), Answered{&answers, from});
      },
      [&](TimePoint now) { return now >= start + Seconds(seconds); },
      [&](TimePoint now) {
        if (now < next_second) return;
        each_second();
        next_second += 1s;
      });
  made.took_s = Seconds(Clock::now() - start).count();
  made.processor_s = processor_seconds() - used;
  return made;
}

FloodIntoNothing::FloodIntoNothing(double per_s) {
  thread_ = std::thread([this, per_s] {
    RandomPuts puts(1);
    Answers answers;
    const absl::Status refusal = make_error(Reason::TooManyRequests, "nobody is there");
    const auto sink = [&refusal](PutOperation, Callback<PutResult> done) { std::move(done)(refusal); };
    offer_on_time(
        per_s, Clock::now(),
        [&](TimePoint from) {
          answers.offered();
          sink(puts.next(), Answered{&answers, from});
        },
        [this](TimePoint) { return over_.load(); }, [](TimePoint) {});
  });
}

FloodIntoNothing::~FloodIntoNothing() {
  over_ = true;
  thread_.join();
}

}  // namespace coordkit::bench

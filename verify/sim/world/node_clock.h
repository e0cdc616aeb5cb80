// One machine's clock: both readings of clock.h as functions of true time. The rate is constant or changes piecewise, always
// within the bound the protocol assumes (unless a profile violates it on purpose). In suspend the lagging reading stops. A
// machine that is stopped altogether (beyond what is promised) shows the same time until it resumes.
//
// Integers only: rates are parts per million, so every compiler computes the same instant.
#pragma once

#include <algorithm>
#include <cstdint>

#include "coordkit/ports/clock.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class NodeClock {
 public:
  // `offset` is what the machine happens to show at true time zero; it is arbitrary.
  NodeClock(Duration offset, int64_t rate_ppm) : lagging_(offset), leading_(offset), rate_ppm_(rate_ppm) {}

  Now read(TrueTime at) const {
    const Duration passed = stopped_ ? Duration::zero() : scaled(at - anchor_);
    return {LaggingTime(lagging_ + (suspended_ ? Duration::zero() : passed)), LeadingTime(leading_ + passed)};
  }
  void set_rate(TrueTime at, int64_t ppm) {
    rebase(at);
    rate_ppm_ = ppm;
  }
  int64_t rate_ppm() const { return rate_ppm_; }
  void suspend(TrueTime at) {
    rebase(at);
    suspended_ = true;
  }
  void wake(TrueTime at) {
    rebase(at);
    suspended_ = false;
  }

  void stop(TrueTime at) {
    rebase(at);
    stopped_ = true;
  }
  void go_on(TrueTime at) {
    if (!stopped_) return;
    rebase(at);
    stopped_ = false;
  }

  // The first true instant at which the reading is reached at the present rate (not before `from`).
  TrueTime when(LaggingTime reading, TrueTime from) const {
    return std::max(from, anchor_ + unscaled(reading.time_since_epoch() - lagging_));
  }
  TrueTime when(LeadingTime reading, TrueTime from) const {
    return std::max(from, anchor_ + unscaled(reading.time_since_epoch() - leading_));
  }

 private:
  Duration scaled(Duration d) const { return d + Duration(wide(d) * rate_ppm_ / 1'000'000); }
  // Rounded up, so that scaled(unscaled(d)) >= d.
  Duration unscaled(Duration d) const {
    if (d <= Duration::zero()) return Duration::zero();
    const int64_t rate = 1'000'000 + rate_ppm_;
    const int64_t whole = d.count() / rate;  // in two steps, so that nothing overflows
    const int64_t rest = d.count() % rate;
    return Duration(whole * 1'000'000 + (rest * 1'000'000 + rate - 1) / rate + 1);
  }
  static int64_t wide(Duration d) { return d.count(); }  // runs are hours at most: no overflow below 2^63 / 10^5
  void rebase(TrueTime at) {
    const Now now = read(at);
    lagging_ = now.lagging.time_since_epoch();
    leading_ = now.leading.time_since_epoch();
    anchor_ = at;
  }

  TrueTime anchor_{};
  Duration lagging_;
  Duration leading_;
  int64_t rate_ppm_;
  bool suspended_ = false;
  bool stopped_ = false;
};

}  // namespace coordkit::sim

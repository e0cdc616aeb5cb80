// How much of a machine's sleep lies after a given moment. A lease is held, so sleep counts against it (docs/time.md), but the
// core counts in lagging time, which stands still meanwhile. Sleep only grows: its value at or before a moment is a lower
// bound of its value at that moment, so two samples kept `reach` apart answer for all moments that matter.
#pragma once

#include <optional>

#include "coordkit/ports/clock.h"

namespace coordkit::engine {

class SuspendMeter {
 public:
  explicit SuspendMeter(Duration reach) : reach_(reach) {}

  void sample(Now now) {
    latest_ = {now.lagging, asleep_at(now)};
    if (newer_ && now.lagging - newer_->at < reach_) return;
    older_ = newer_;
    newer_ = latest_;
  }
  // At least the sleep between `moment` and the last sample. For a moment before all samples the worst is assumed.
  Duration since(LaggingTime moment) const {
    for (const std::optional<Sample>& base : {newer_, older_}) {
      if (base && moment >= base->at) return latest_.asleep - base->asleep;
    }
    return Duration::max();
  }

 private:
  struct Sample {
    LaggingTime at;
    Duration asleep{};
  };
  static Duration asleep_at(Now now) { return now.leading.time_since_epoch() - now.lagging.time_since_epoch(); }

  Duration reach_;
  std::optional<Sample> older_, newer_;  // I: taken at least `reach` apart
  Sample latest_;
};

}  // namespace coordkit::engine

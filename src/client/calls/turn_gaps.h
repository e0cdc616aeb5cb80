// Notices that the host's turns stopped or that its clock stepped back (docs/time.md LT-9). Lateness is relative to the
// deadline that the host was given, so that an idle client is not taken for a paused one.
#pragma once

#include "coordkit/ports/clock.h"

namespace coordkit::client {

class TurnGaps {
 public:
  // How late the turn is. Zero: on time. Duration::max(): the clock stepped back.
  Duration late(Now now) {
    const bool back = now.leading < last_.leading || now.lagging < last_.lagging;
    last_ = now;
    if (back) return Duration::max();
    return now.leading > promised_ ? now.leading - promised_ : Duration::zero();
  }
  void promise(LeadingTime next_turn) { promised_ = next_turn; }
  Now last() const { return last_; }

 private:
  Now last_{LaggingTime::min(), LeadingTime::min()};
  LeadingTime promised_ = LeadingTime::max();
};

}  // namespace coordkit::client

// The time of a fake service. It passes when the fake says so.
#pragma once

#include <chrono>

#include "coordkit/ports/clock.h"

namespace coordkit::testkit {

class FakeClock final : public Clock {
 public:
  Now now() const noexcept override { return now_; }
  void pass(Duration by) {
    now_.lagging += by;
    now_.leading += by;
  }
  // The test's own time counts from here on.
  void begin() { began_ = now_.lagging; }
  Duration elapsed() const { return now_.lagging - began_; }

 private:
  LaggingTime began_{std::chrono::hours(1)};
  Now now_{began_, LeadingTime(std::chrono::hours(2))};
};

}  // namespace coordkit::testkit

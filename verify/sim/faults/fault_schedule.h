// When which fault of the plan comes up, and the count of those that struck.
//
// When a fault comes up, how long it lasts and what it draws when it strikes depends on the seed alone. The others and the
// events in between have no part in it: whichever fault is left out, the rest come up at the same times.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "coordkit/sim/sim_options.h"
#include "sim/plan.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class FaultSchedule {
 public:
  FaultSchedule(World& world, const Plan& plan, const Reduction& reduction, Random& random);

  // Each fault of the plan comes up once, some time from now, with its number in the event.
  void begin();
  void plan_next(uint64_t number);

  struct Strike {
    FaultKind kind;
    Duration length;
    Random random;  // for whatever it draws
    bool left_out;  // by the reduction
  };
  // It has come up.
  Strike come_up(uint64_t number);
  void count(FaultKind kind);                    // the newest one strikes
  uint64_t ordinal() const { return come_up_; }  // of the newest one, from 1
  void fill(Report& report) const;

 private:
  World& world_;
  const Plan& plan_;
  const Reduction& reduction_;
  std::vector<Random> schedules_;  // of each fault of the plan
  uint64_t come_up_ = 0;
  std::vector<uint64_t> struck_;  // which of them struck
  std::array<uint64_t, kFaultKinds> counts_{};
};

}  // namespace coordkit::sim

// When the process of a node has its turns: some moments after something was posted, and when its engine or client asked for
// one. A frozen process has none until it resumes. Turns scheduled for one process do not reach the next.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class TurnSchedule {
 public:
  TurnSchedule(World& world, uint32_t node, Duration latency_max, Random& random)
      : world_(world), node_(node), latency_max_(latency_max), random_(random) {}

  uint32_t epoch() const { return epoch_; }  // of the process
  void next_epoch() { ++epoch_; }            // it starts or ends
  void reset();                              // not frozen, and nothing is scheduled
  bool frozen() const { return frozen_; }
  void freeze() { frozen_ = true; }
  void resume();

  void wake();
  void turn_after(Duration time);
  bool turn_scheduled() const { return turn_scheduled_; }
  void turn_at_deadline(TrueTime at);  // in place of an earlier one; TrueTime::max(): none

  // Events of the world. True: it has its turn now.
  bool turn_event(const Event& event);
  void timer_event(const Event& event);

 private:
  World& world_;
  const uint32_t node_;
  const Duration latency_max_;
  Random& random_;  // shared with the other parts of the node
  uint32_t epoch_ = 0;
  bool frozen_ = false;
  bool turn_scheduled_ = false;
  std::optional<TrueTime> timer_at_;
};

}  // namespace coordkit::sim

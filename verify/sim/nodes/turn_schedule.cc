#include "sim/nodes/turn_schedule.h"

#include <utility>

namespace coordkit::sim {

void TurnSchedule::reset() {
  frozen_ = turn_scheduled_ = false;
  timer_at_.reset();
}

void TurnSchedule::resume() {
  frozen_ = false;
  turn_after(Duration::zero());
}

void TurnSchedule::wake() {
  if (frozen_ || turn_scheduled_) return;
  turn_after(random_.chance(0.5) ? Duration::zero() : Duration(random_.below(latency_max_.count())));
}

void TurnSchedule::turn_after(Duration time) {
  turn_scheduled_ = true;
  world_.schedule(world_.now() + time, EventKind::Turn, node_, epoch_);
}

void TurnSchedule::turn_at_deadline(TrueTime at) {
  if (at == TrueTime::max() || timer_at_ == at) return;
  timer_at_ = at;
  world_.schedule(at, EventKind::Timer, node_, epoch_);
}

bool TurnSchedule::turn_event(const Event& event) {
  if (event.epoch != epoch_ || !std::exchange(turn_scheduled_, false)) return false;
  return !frozen_;
}

void TurnSchedule::timer_event(const Event& event) {
  if (event.epoch != epoch_ || timer_at_ != world_.now()) return;
  timer_at_.reset();
  if (!frozen_ && !turn_scheduled_) turn_after(Duration::zero());
}

}  // namespace coordkit::sim

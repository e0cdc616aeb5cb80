#include "sim/histories/background.h"

#include <utility>

namespace coordkit::sim {

void Background::begin_event(const Event& event) {
  if (over_) return;
  FaultSchedule::Strike strike = schedule_.come_up(event.item);
  schedule_.plan_next(event.item);
  if (strike.left_out) return;
  const auto place = static_cast<uint32_t>(strike.random.below(plan_.places()));
  world_.trace(place, "fault {} for {} us", static_cast<uint64_t>(strike.kind),
               static_cast<uint64_t>(strike.length.count()) / 1000);
  schedule_.count(strike.kind);
  if (strike.kind == FaultKind::Crash) return crash(place, strike.length);
  Links links;
  if (strike.kind == FaultKind::Storm) network_.set_quality(plan_.storm);
  if (strike.kind == FaultKind::Isolation) links = draw_links(strike.kind, plan_.places(), place, strike.random);
  remember(strike.kind, std::move(links));
  world_.schedule(world_.now() + strike.length, EventKind::FaultEnd, kNoNode, 0, active_.size() - 1);
}

void Background::end_event(const Event& event) { undo(active_[event.item]); }

void Background::remember(FaultKind kind, Links links) {
  for (const auto& [from, to] : links) {
    network_.cut(from, to);
    const Duration notice = Duration(random_.below(2'000'000'000));
    world_.schedule(world_.now() + notice, EventKind::Disconnect, from, 0, to);
  }
  active_.push_back({kind, std::move(links), true});
}

void Background::undo(Active& fault) {
  if (!std::exchange(fault.on, false)) return;
  if (fault.kind == FaultKind::Storm) network_.set_quality(plan_.calm);
  for (const auto& [from, to] : fault.links) network_.mend(from, to);
}

void Background::end_all() {
  over_ = true;
  for (Active& fault : active_) undo(fault);
  kept_down_.clear();
}

void Background::cut_apart(const std::set<uint32_t>& these, const std::set<uint32_t>& those) {
  Links links;
  for (const uint32_t one : these) {
    for (const uint32_t other : those) {
      links.emplace_back(one, other);
      links.emplace_back(other, one);
    }
  }
  remember(FaultKind::Split, std::move(links));
}

bool Background::kill(uint32_t place) {
  if (!nodes_[place]->up()) return false;
  ++crashes_;
  nodes_[place]->crash(random_.chance(0.5) ? CrashKind::Process : CrashKind::Power);
  return true;
}

void Background::take_down(uint32_t place) {
  kept_down_.insert(place);
  kill(place);
}

void Background::crash(uint32_t place, Duration down) {
  if (kill(place)) world_.schedule(world_.now() + down, EventKind::Restart, place);
}

}  // namespace coordkit::sim

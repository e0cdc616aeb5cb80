#include "sim/faults/faults.h"

#include <algorithm>
#include <utility>

#include "sim/faults/stranger.h"
#include "sim/record/recorder.h"

namespace coordkit::sim {

void Faults::begin_event(const Event& event) {
  if (!hostile_) return;
  const FaultSchedule::Strike come_up = schedule_.come_up(event.item);
  striking_ = come_up.random;
  if (!come_up.left_out) strike(come_up.kind, come_up.length);
  schedule_.plan_next(event.item);
}

// Often the leader: most of the protocol is about losing it.
uint32_t Faults::victim() {
  const std::optional<uint32_t> leader = targets_.consensus.leader();
  if (leader && striking_.chance(0.5)) return *leader;
  return static_cast<uint32_t>(striking_.below(targets_.plan.nodes));
}

// The leader may not know yet that this one is struck.
void Faults::hand_over_to(uint32_t dying) {
  constexpr double kOften = 0.3;
  if (striking_.chance(kOften)) targets_.churn.hand_over_to(dying);
}

void Faults::strike(FaultKind kind, Duration length) {
  if (kind >= FaultKind::DiskError) return strike_disk({.kind = kind, .node = victim()}, length);
  world_.trace(kNoNode, "fault {} for {} us", static_cast<uint64_t>(kind), static_cast<uint64_t>(length.count()) / 1000);
  ActiveFault fault{.kind = kind, .node = victim()};
  if (kind == FaultKind::Fade || kind == FaultKind::Overtaken) fault.node = targets_.consensus.leader().value_or(fault.node);
  record(fault, length);
  if (of_links(kind)) return strike_links(std::move(fault), length);
  switch (kind) {
    case FaultKind::ConnectionLoss:
      for (const auto& [from, to] : links_of(FaultKind::PairCut)) targets_.connections.disconnect(from, to);
      return;
    case FaultKind::SlowDisk: disks_.slow_down(fault.node); return remember(std::move(fault), length);
    case FaultKind::Overtaken: return overtake(fault.node, length);
    case FaultKind::Stranger: return visit(fault.node, targets_.nodes, targets_.network, targets_.situations, striking_);
    default: return strike_process(fault, length);
  }
}

void Faults::strike_links(ActiveFault fault, Duration length) {
  switch (fault.kind) {
    case FaultKind::Storm: links_.begin_storm(); return remember(std::move(fault), length);
    case FaultKind::Clog:
      fault.links = links_of(FaultKind::OneWayCut);
      links_.clog(fault.links);
      return remember(std::move(fault), length);
    case FaultKind::HeldKind:
      fault.links = links_of(FaultKind::PairCut);
      fault.message_kind = striking_.below(std::variant_size_v<Message>);
      links_.hold_kind(fault.links, fault.message_kind);
      return remember(std::move(fault), length);
    case FaultKind::Fade: return fade(std::move(fault), length);
    default: break;
  }
  fault.links = links_of(fault.kind);
  fault.until = world_.now() + length;
  fault.period = Duration(striking_.between(1'000'000, 500'000'000));
  cut_links(fault);
  if (fault.kind == FaultKind::Flap) return remember(fault, fault.period);
  links_.notice_cuts(fault.links, striking_);
  if (!fault.links.empty()) hand_over_to(fault.links.front().first);
  remember(std::move(fault), length);
}

void Faults::strike_process(const ActiveFault& fault, Duration length) {
  switch (fault.kind) {
    case FaultKind::Crash: targets_.processes.crash(fault.node, length, any_crash()); return hand_over_to(fault.node);
    case FaultKind::CrashInTurn: targets_.processes.crash_in_turn(fault.node, length); return hand_over_to(fault.node);
    case FaultKind::PowerLoss: return lose_power(length);
    case FaultKind::Pause:
    case FaultKind::Suspend: freeze(fault.node, length, fault.kind); return hand_over_to(fault.node);
    case FaultKind::ClockRate:
      return targets_.nodes[fault.node]->clock().set_rate(world_.now(), static_cast<int64_t>(striking_.below(20'001)) - 10'000);
    default: return;
  }
}

void Faults::strike_disk(ActiveFault fault, Duration length) {
  if (fault.kind == FaultKind::RotEverywhere) return rot_everywhere();
  const std::optional<FileFaults> lasting = disks_.strike(fault.kind, fault.node, striking_);
  if (!lasting) return;
  world_.trace(fault.node, "disk fault {} for {} us", static_cast<uint64_t>(fault.kind),
               static_cast<uint64_t>(length.count()) / 1000);
  record(fault, length);
  if (*lasting == FileFaults{}) return;
  fault.files = *lasting;
  disks_.begin(fault.node, fault.files);
  remember(std::move(fault), length);
}

void Faults::rot_everywhere() {
  ActiveFault fault{.kind = FaultKind::RotEverywhere};
  world_.trace(kNoNode, "disk fault {} on all that run", static_cast<uint64_t>(fault.kind));
  record(fault, Duration());
  targets_.scrubs.rot_everywhere(striking_);
}

void Faults::record(ActiveFault& fault, Duration length) {
  schedule_.count(fault.kind);
  if (Recorder* recorder = world_.recorder()) {
    fault.recorded = recorder->faults().begins(fault.kind, schedule_.ordinal(), fault.node, length);
  }
}

void Faults::remember(ActiveFault fault, Duration length) {
  if (Recorder* recorder = world_.recorder()) recorder->faults().cuts(fault.recorded, fault.links);
  active_.push_back(std::move(fault));
  world_.schedule(world_.now() + length, EventKind::FaultEnd, kNoNode, 0, active_.size() - 1);
}

// A node does not vanish at once: its peers lose contact one after the other within the time that elections take. Messages that
// they send to it meanwhile pass, are lost, or are held back for a while. So there are moments in which one half of the cluster
// has given it up and the other has not.
void Faults::fade(ActiveFault whole, Duration length) {
  const uint32_t node = whole.node;
  const auto within = [this](Duration bound) { return Duration(striking_.below(static_cast<uint64_t>(bound.count()) + 1)); };
  const Duration election = targets_.plan.election_timeout;
  const Duration spread = 2 * election;
  Links links;  // of the parts, which undo themselves
  for (uint32_t other = 0; other < targets_.plan.nodes; ++other) {
    if (other == node) continue;
    links.emplace_back(node, other);
    const Duration mute = within(spread);
    remember_later({.kind = FaultKind::OneWayCut, .links = {{node, other}}, .node = node}, mute, spread + length - mute);
    const uint64_t choice = striking_.below(4);
    if (choice == 0) continue;
    const FaultKind kind = choice == 1 ? FaultKind::OneWayCut : FaultKind::Clog;
    const Duration deaf = within(spread);
    const Duration end = kind == FaultKind::Clog ? deaf + within(election) : spread + length;
    remember_later({.kind = kind, .links = {{other, node}}, .node = node}, deaf, end - deaf);
  }
  const uint64_t recorded = whole.recorded;
  remember(std::move(whole), spread + length);
  if (Recorder* recorder = world_.recorder()) recorder->faults().cuts(recorded, links);
}

// Its appends are held until the fault is over. By then they belong to an old term.
void Faults::overtake(uint32_t node, Duration length) {
  if (targets_.consensus.leader() != node) return;
  const Duration election = targets_.plan.election_timeout;
  const Duration held = election / 2 + Duration(striking_.below(static_cast<uint64_t>(election.count())));
  ActiveFault appends{.kind = FaultKind::HeldKind, .node = node, .message_kind = Message(raft::AppendRequest{}).index()};
  ActiveFault cut{.kind = FaultKind::OneWayCut, .node = node};
  for (uint32_t other = 0; other < targets_.plan.nodes; ++other) {
    if (other == node) continue;
    appends.links.emplace_back(node, other);
    cut.links.emplace_back(node, other);
    cut.links.emplace_back(other, node);
  }
  links_.hold_kind(appends.links, appends.message_kind);
  remember(std::move(appends), held + length);
  remember_later(std::move(cut), held, length);
  overtaking_.begin(node, held, length);
}

// A fault that begins after `wait`.
void Faults::remember_later(ActiveFault fault, Duration wait, Duration length) {
  fault.on = false;
  fault.waits = true;
  fault.period = length;
  remember(std::move(fault), wait);
}

void Faults::begin_late(ActiveFault& fault, uint64_t number) {
  if (!hostile_) return;
  if (fault.kind == FaultKind::Clog) {
    fault.on = true;
    links_.clog(fault.links);
  } else {
    cut_links(fault);
  }
  world_.schedule(world_.now() + fault.period, EventKind::FaultEnd, kNoNode, 0, number);
}

void Faults::end_event(const Event& event) {
  ActiveFault& fault = active_[event.item];
  if (std::exchange(fault.waits, false)) return begin_late(fault, event.item);
  if (fault.kind == FaultKind::Flap && hostile_ && world_.now() < fault.until) {
    fault.on ? mend_links(fault) : cut_links(fault);
    return world_.schedule(world_.now() + fault.period, EventKind::FaultEnd, kNoNode, 0, event.item);
  }
  undo(fault);
}

void Faults::undo(ActiveFault& fault) {
  if (Recorder* recorder = world_.recorder()) recorder->faults().ends(fault.recorded);
  if (!std::exchange(fault.on, false)) return;
  switch (fault.kind) {
    case FaultKind::Storm: return links_.end_storm();
    case FaultKind::Clog: return links_.unclog(fault.links);
    case FaultKind::HeldKind: return links_.release_kind(fault.links, fault.message_kind);
    case FaultKind::SlowDisk: return disks_.speed_up(fault.node);
    case FaultKind::DiskError:
    case FaultKind::DiskFull:
    case FaultKind::Misdirected:
    case FaultKind::LostSync: return disks_.end(fault.node, fault.files);
    case FaultKind::Suspend: return targets_.nodes[fault.node]->clock().wake(world_.now());
    default: return links_.mend(fault.links);
  }
}

// A starting machine is awake.
void Faults::process_stopped(uint32_t node) {
  for (ActiveFault& fault : active_) {
    if (fault.kind == FaultKind::Suspend && fault.node == node) undo(fault);
  }
}

void Faults::end_all() {
  hostile_ = false;
  for (ActiveFault& fault : active_) undo(fault);
  disks_.end_all();
}

void Faults::cut_links(ActiveFault& fault) {
  fault.on = true;
  links_.cut(fault.links);
}

void Faults::mend_links(ActiveFault& fault) {
  fault.on = false;
  links_.mend(fault.links);
}

size_t Faults::cut(uint32_t from, uint32_t to) {
  ActiveFault fault{.kind = FaultKind::OneWayCut, .links = {{from, to}}};
  cut_links(fault);
  links_.notice_cuts(fault.links, striking_);
  active_.push_back(std::move(fault));
  return active_.size() - 1;
}

Links Faults::links_of(FaultKind kind) {
  if (targets_.plan.nodes < 2) return {};
  const uint32_t one = victim();
  return draw_links(kind, targets_.plan.nodes, one, striking_);
}

void Faults::lose_power(Duration length) {
  for (uint32_t node = 0; node < targets_.plan.nodes; ++node) {
    Node& struck = *targets_.nodes[node];
    if (!struck.up()) struck.stores().log().crash(CrashKind::Power);  // what its last process had not synced
    targets_.processes.crash(node, Duration(striking_.below(length.count() + 1)), CrashKind::Power);
  }
}

void Faults::freeze(uint32_t node, Duration length, FaultKind kind) {
  Node& frozen = *targets_.nodes[node];
  if (!frozen.up() || frozen.frozen()) return;
  if (kind == FaultKind::Suspend) {
    if (suspended(node)) return;
    frozen.clock().suspend(world_.now());
    remember({.kind = kind, .node = node}, length);
  }
  targets_.processes.freeze(node, kind == FaultKind::Suspend ? Node::Freeze::Machine : Node::Freeze::Process);
  world_.trace(node, "is frozen");
  world_.schedule(world_.now() + length, EventKind::Resume, node, frozen.epoch());
}

bool Faults::suspended(uint32_t node) const {
  return std::ranges::any_of(
      active_, [node](const ActiveFault& fault) { return fault.kind == FaultKind::Suspend && fault.on && fault.node == node; });
}

}  // namespace coordkit::sim

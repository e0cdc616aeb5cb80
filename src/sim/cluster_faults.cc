// How faults strike and how they are undone. Each active fault is remembered with what it did, so that undoing it never
// touches another one.
#include <algorithm>
#include <utility>

#include "sim/cluster.h"
#include "sim/recorder.h"
#include "sim/stranger.h"

namespace coordkit::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

// When a fault comes up, how long it lasts and what it draws when it strikes depends on the seed alone, not on the others
// nor on what happens in between: whichever one is left out, the rest come up at the same times.
void Cluster::plan_fault(size_t index) {
  const Duration mean = plan_.faults[index].interval;
  world_.schedule(world_.now() + mean / 4 + Duration(schedules_[index].below(mean.count() * 3 / 2)), EventKind::FaultBegin,
                  kNoNode, 0, index);
}

void Cluster::fault_begin(const Event& event) {
  if (!hostile_) return;
  const FaultPlan& fault = plan_.faults[event.item];
  const Duration length(schedules_[event.item].between(fault.length_min.count(), fault.length_max.count()));
  striking_ = schedules_[event.item].fork();
  ++strikes_;
  if (options_.reduction.strikes(fault.kind, strikes_)) strike(fault.kind, length);
  plan_fault(event.item);
}

// Often the leader: most of the protocol is about losing it.
uint32_t Cluster::victim() {
  const std::optional<uint32_t> leader = consensus_.leader();
  if (leader && striking_.chance(0.5)) return *leader;
  return static_cast<uint32_t>(striking_.below(plan_.nodes));
}

void Cluster::strike(FaultKind kind, Duration length) {
  if (kind >= FaultKind::DiskError) return strike_disk({.kind = kind, .node = victim()}, length);
  world_.trace(kNoNode, "fault {} for {} us", static_cast<uint64_t>(kind), static_cast<uint64_t>(length.count()) / 1000);
  ActiveFault fault{.kind = kind, .node = victim()};
  if (kind == FaultKind::Fade) fault.node = consensus_.leader().value_or(fault.node);
  record(fault, length);
  switch (kind) {
    case FaultKind::Storm:
      ++storms_;
      network_.set_quality(plan_.storm);
      remember(std::move(fault), length);
      return;
    case FaultKind::OneWayCut:
    case FaultKind::PairCut:
    case FaultKind::Isolation:
    case FaultKind::Split:
    case FaultKind::Flap:
      fault.links = links_of(kind);
      fault.until = world_.now() + length;
      fault.period = Duration(striking_.between(1'000'000, 500'000'000));
      cut_links(fault);
      if (kind != FaultKind::Flap) notice_cuts(fault);
      remember(fault, kind == FaultKind::Flap ? fault.period : length);
      return;
    case FaultKind::Clog:
      fault.links = links_of(FaultKind::OneWayCut);
      for (const auto& [from, to] : fault.links) network_.clog(from, to);
      remember(std::move(fault), length);
      return;
    case FaultKind::HeldKind:
      fault.links = links_of(FaultKind::PairCut);
      fault.message_kind = striking_.below(std::variant_size_v<Message>);
      for (const auto& [from, to] : fault.links) network_.hold_kind(from, to, fault.message_kind);
      remember(std::move(fault), length);
      return;
    case FaultKind::Fade: fault.node = consensus_.leader().value_or(fault.node); return fade(std::move(fault), length);
    case FaultKind::ConnectionLoss:
      for (const auto& [from, to] : links_of(FaultKind::PairCut)) disconnect(from, to);
      return;
    case FaultKind::Crash: return crash(fault.node, length, any_crash());
    case FaultKind::CrashInTurn:
      if (!nodes_[fault.node]->up()) return;
      nodes_[fault.node]->crash_in_next_turn();
      in_turn_until_[fault.node] = world_.now() + length;
      world_.schedule(world_.now() + length, EventKind::Restart, fault.node);
      return;
    case FaultKind::PowerLoss:
      for (uint32_t node = 0; node < plan_.nodes; ++node) {
        if (!nodes_[node]->up()) nodes_[node]->log().crash(CrashKind::Power);  // what its last process had not synced
        crash(node, Duration(striking_.below(length.count() + 1)), CrashKind::Power);
      }
      return;
    case FaultKind::Pause:
    case FaultKind::Suspend: return freeze(fault.node, length, kind);
    case FaultKind::SlowDisk:
      ++slow_[fault.node];
      nodes_[fault.node]->log().set_quality(plan_.slow_disk);
      nodes_[fault.node]->state().set_quality(plan_.slow_disk);
      remember(std::move(fault), length);
      return;
    case FaultKind::ClockRate:
      nodes_[fault.node]->clock().set_rate(world_.now(), static_cast<int64_t>(striking_.below(20'001)) - 10'000);
      return;
    case FaultKind::Stranger: return visit(fault.node);
    default: return;
  }
}

// A blank node has nothing to lose yet, and the first to reach it may be anyone (decisions/0018).
void Cluster::visit(uint32_t node) {
  Node& host = *nodes_[node];
  if (!host.up() || host.frozen() || host.engine()->core() == nullptr) return;
  const raft::Status status = host.engine()->core()->status();
  const WhatIsTrue truth{.term = status.leadership.term,
                         .last = status.last,
                         .configuration = status.configuration_index,
                         .members = status.configuration.voters};
  Hello claim = nodes_[(node + 1) % plan_.nodes]->hello_to(host);
  claim.from = ReplicaId(plan_.nodes + 1 + striking_.below(3));
  claim.store = StoreId(striking_() | 1);
  claim.cluster = ClusterId();
  const raft::Member& victim = truth.members[striking_.below(truth.members.size())];
  const uint32_t named = static_cast<uint32_t>(victim.id.value() - 1);
  if (named != node && !network_.connected(node, named)) {
    reach(Situation::StrangerAsMember);
    claim.from = victim.id;
    if (striking_.chance(0.7)) claim.store = victim.store;
    claim.boot = nodes_[named]->log().boot().next();
  }
  reach(Situation::StrangerSpoke);
  host.visited(claim, draw_lies(truth, striking_));
}

void Cluster::record(ActiveFault& fault, Duration length) {
  ++fault_counts_[static_cast<size_t>(fault.kind)];
  struck_.push_back(strikes_);
  if (Recorder* recorder = world_.recorder()) fault.recorded = recorder->fault_begins(fault.kind, strikes_, fault.node, length);
}

uint64_t Cluster::remember(ActiveFault fault, Duration length) {
  if (Recorder* recorder = world_.recorder()) recorder->fault_cuts(fault.recorded, fault.links);
  faults_.push_back(std::move(fault));
  world_.schedule(world_.now() + length, EventKind::FaultEnd, kNoNode, 0, faults_.size() - 1);
  return faults_.size() - 1;
}

// A node does not vanish at once: its peers lose contact one after the other within the time that elections take, while
// what they send to it passes, is lost, or is held back for a while. So there are moments in which one half of the
// cluster has given it up and the other has not.
void Cluster::fade(ActiveFault whole, Duration length) {
  const uint32_t node = whole.node;
  const auto within = [this](Duration bound) { return Duration(striking_.below(static_cast<uint64_t>(bound.count()) + 1)); };
  const Duration spread = 2 * plan_.election_timeout;
  for (uint32_t other = 0; other < plan_.nodes; ++other) {
    if (other == node) continue;
    whole.links.emplace_back(node, other);
    const Duration unheard = within(spread);
    remember_later({.kind = FaultKind::OneWayCut, .links = {{node, other}}, .node = node}, unheard, spread + length - unheard);
    const uint64_t choice = striking_.below(4);
    if (choice == 0) continue;
    const FaultKind kind = choice == 1 ? FaultKind::OneWayCut : FaultKind::Clog;
    const Duration deaf = within(spread);
    const Duration end = kind == FaultKind::Clog ? deaf + within(plan_.election_timeout) : spread + length;
    remember_later({.kind = kind, .links = {{other, node}}, .node = node}, deaf, end - deaf);
  }
  const std::vector<std::pair<uint32_t, uint32_t>> links = std::exchange(whole.links, {});  // the parts undo themselves
  const uint64_t recorded = whole.recorded;
  remember(std::move(whole), spread + length);
  if (Recorder* recorder = world_.recorder()) recorder->fault_cuts(recorded, links);
}

// A fault that begins after `wait`.
void Cluster::remember_later(ActiveFault fault, Duration wait, Duration length) {
  fault.on = false;
  fault.waits = true;
  fault.period = length;
  remember(std::move(fault), wait);
}

void Cluster::begin_late(ActiveFault& fault, uint64_t number) {
  if (!hostile_) return;
  if (fault.kind == FaultKind::Clog) {
    fault.on = true;
    for (const auto& [from, to] : fault.links) network_.clog(from, to);
  } else {
    cut_links(fault);
  }
  world_.schedule(world_.now() + fault.period, EventKind::FaultEnd, kNoNode, 0, number);
}

void Cluster::fault_end(const Event& event) {
  ActiveFault& fault = faults_[event.item];
  if (std::exchange(fault.waits, false)) return begin_late(fault, event.item);
  if (fault.kind == FaultKind::Flap && hostile_ && world_.now() < fault.until) {
    fault.on ? mend_links(fault) : cut_links(fault);
    return world_.schedule(world_.now() + fault.period, EventKind::FaultEnd, kNoNode, 0, event.item);
  }
  undo(fault);
}

void Cluster::undo(ActiveFault& fault) {
  if (Recorder* recorder = world_.recorder()) recorder->fault_ends(fault.recorded);
  switch (fault.kind) {
    case FaultKind::Storm:
      if (fault.on && --storms_ == 0) network_.set_quality(plan_.calm);
      fault.on = false;
      return;
    case FaultKind::Clog:
      if (std::exchange(fault.on, false)) {
        for (const auto& [from, to] : fault.links) network_.unclog(from, to);
      }
      return;
    case FaultKind::HeldKind:
      if (std::exchange(fault.on, false)) {
        for (const auto& [from, to] : fault.links) network_.release_kind(from, to, fault.message_kind);
      }
      return;
    case FaultKind::SlowDisk:
      if (std::exchange(fault.on, false) && --slow_[fault.node] == 0) {
        nodes_[fault.node]->log().set_quality(plan_.disk);
        nodes_[fault.node]->state().set_quality(plan_.disk);
        nodes_[fault.node]->log().hurry();
        nodes_[fault.node]->state().hurry();
      }
      return;
    case FaultKind::DiskError:
    case FaultKind::DiskFull:
    case FaultKind::Misdirected:
    case FaultKind::LostSync:
      if (std::exchange(fault.on, false)) refresh_disk(fault.node);
      return;
    case FaultKind::Suspend:
      if (std::exchange(fault.on, false)) nodes_[fault.node]->clock().wake(world_.now());
      return;
    default:
      if (fault.on) mend_links(fault);
      return;
  }
}

void Cluster::cut_links(ActiveFault& fault) {
  fault.on = true;
  for (const auto& [from, to] : fault.links) network_.cut(from, to);
  cuts_ += fault.links.size();
  note_cut();
}

void Cluster::mend_links(ActiveFault& fault) {
  fault.on = false;
  for (const auto& [from, to] : fault.links) network_.mend(from, to);
  cuts_ -= fault.links.size();
}

// Some ends of a cut connection notice it; the others only see silence.
void Cluster::notice_cuts(const ActiveFault& fault) {
  for (const auto& [from, to] : fault.links) {
    if (!striking_.chance(0.4)) continue;
    world_.schedule(world_.now() + Duration(striking_.below(1'000'000'000)), EventKind::Disconnect, from, 0, to);
  }
}

std::vector<std::pair<uint32_t, uint32_t>> Cluster::links_of(FaultKind kind) {
  std::vector<std::pair<uint32_t, uint32_t>> links;
  if (plan_.nodes < 2) return links;
  const uint32_t one = victim();
  const uint32_t other = static_cast<uint32_t>((one + 1 + striking_.below(plan_.nodes - 1)) % plan_.nodes);
  if (kind == FaultKind::OneWayCut) {
    links.emplace_back(one, other);
    if (striking_.chance(0.5)) std::swap(links[0].first, links[0].second);
    return links;
  }
  const auto both = [&](uint32_t a, uint32_t b) {
    links.emplace_back(a, b);
    links.emplace_back(b, a);
  };
  if (kind == FaultKind::PairCut || kind == FaultKind::Flap) {
    both(one, other);
    return links;
  }
  std::vector<bool> side(plan_.nodes);
  side[one] = true;
  if (kind == FaultKind::Split) {
    for (uint32_t node = 0; node < plan_.nodes; ++node) side[node] = striking_.chance(0.5);
  }
  for (uint32_t a = 0; a < plan_.nodes; ++a) {
    for (uint32_t b = a + 1; b < plan_.nodes; ++b) {
      if (side[a] != side[b]) both(a, b);
    }
  }
  return links;
}

void Cluster::crash(uint32_t node, Duration down, CrashKind kind) {
  if (!nodes_[node]->up()) return;
  nodes_[node]->crash(kind);
  world_.schedule(world_.now() + down, EventKind::Restart, node);
}

// A disk that cannot be opened is retried, unless it has lost acknowledged data: then it is replaced, and so is one
// that has lost the genesis.
void Cluster::restart(uint32_t node) {
  if (nodes_[node]->up()) return;
  if (hostile_ && plan_.crashes_in_open && random_.chance(0.1)) {
    nodes_[node]->log().lose_power_in_open(random_.below(12));
  }
  const absl::Status opened = nodes_[node]->start();
  note_opened(node, opened);
  const bool aside = opened.ok() && nodes_[node]->log().found_holes() && nodes_[node]->engine()->core() == nullptr;
  if (opened.ok() && !aside) return;
  if (!nodes_[node]->intact() || nodes_[node]->refused_pair()) replace_disk(node);
  world_.schedule(world_.now() + Duration(random_.between(10'000'000, 500'000'000)), EventKind::Restart, node);
}

void Cluster::resume(uint32_t node) {
  nodes_[node]->resume();
  workload_->process_resumed(node);
  programs_.process_resumed(node);
}

void Cluster::restart_soon(uint32_t node) { world_.schedule(world_.now() + milliseconds(100), EventKind::Restart, node); }

void Cluster::freeze(uint32_t node, Duration length, FaultKind kind) {
  if (!nodes_[node]->up() || nodes_[node]->frozen()) return;
  if (kind == FaultKind::Suspend) {
    for (const ActiveFault& other : faults_) {
      if (other.kind == FaultKind::Suspend && other.on && other.node == node) return;
    }
    nodes_[node]->clock().suspend(world_.now());
    remember({.kind = kind, .node = node}, length);
  }
  nodes_[node]->freeze(kind == FaultKind::Suspend ? Node::Freeze::Machine : Node::Freeze::Process);
  note_lost(node);
  world_.trace(node, "is frozen");
  world_.schedule(world_.now() + length, EventKind::Resume, node, nodes_[node]->epoch());
}

// FLT_V01: in the end every replica runs the newest build.
void Cluster::finish_upgrade() {
  for (const auto& node : nodes_) {
    node->stay_newest();
    if (node->up() && !node->newest()) node->crash(CrashKind::Process);
  }
}

void Cluster::heal() {
  hostile_ = false;
  network_.set_stale_delivery(false);  // a renewal of a dead process, still in flight, would prolong its session once more
  if (Recorder* recorder = world_.recorder()) recorder->calm();
  for (ActiveFault& fault : faults_) undo(fault);
  replace_bad_disks();
  if (plan_.newest_level > 0) finish_upgrade();
  for (uint32_t node = 0; node < plan_.nodes; ++node) {
    restart(node);
    nodes_[node]->spare();
    if (nodes_[node]->frozen()) resume(node);
    nodes_[node]->scrub();
  }
  for (uint32_t a = 0; a < plan_.nodes; ++a) {
    for (uint32_t b = a + 1; b < plan_.nodes; ++b) {
      disconnect(a, b);
      disconnect(b, a);
    }
  }
  world_.trace(kNoNode, "all faults are over");
}

}  // namespace coordkit::sim

#include "sim/faults/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/oracle/violation.h"

namespace coordkit::sim {

void Conductor::cut_off(ReplicaId node) {
  for (uint64_t other = 1; other <= nodes(); ++other) {
    cut(node, ReplicaId(other));
    cut(ReplicaId(other), node);
  }
}

void Conductor::rejoin(ReplicaId node) {
  for (uint64_t other = 1; other <= nodes(); ++other) {
    mend(node, ReplicaId(other));
    mend(ReplicaId(other), node);
  }
}

void Conductor::start_all() {
  for (uint64_t node = 1; node <= nodes(); ++node) start(ReplicaId(node));
}

ReplicaId Script::leader() const {
  const std::optional<uint32_t> leader = consensus_.leader();
  return leader ? ReplicaId(*leader + 1) : ReplicaId();
}

void Script::at(Duration when, std::function<void()> act) {
  acts_.emplace(++last_, std::move(act));
  world_.schedule(std::max(world_.now(), TrueTime(when)), EventKind::Script, kNoNode, 0, last_);
}

// Nothing strikes a cluster that was promised calm.
void Script::event(const Event& event) {
  auto act = acts_.extract(event.item);
  if (!act.empty() && faults_.hostile()) act.mapped()();
}

void Script::crash(ReplicaId node) {
  if (exists(node) && nodes_[place(node)]->up()) nodes_[place(node)]->crash(faults_.any_crash());
}

void Script::start(ReplicaId node) {
  if (exists(node)) processes_.start(place(node));
}

void Script::freeze(ReplicaId node, Node::Freeze what) {
  if (!exists(node)) return;
  const Node& frozen = *nodes_[place(node)];
  if (frozen.up() && !frozen.frozen()) processes_.freeze(place(node), what);
}

void Script::resume(ReplicaId node) {
  if (exists(node) && nodes_[place(node)]->frozen()) nodes_[place(node)]->resume();
}

void Script::cut(ReplicaId from, ReplicaId to) {
  if (!exists(from) || !exists(to) || from == to || is_cut(from, to)) return;
  cuts_[{from, to}] = faults_.cut(place(from), place(to));
}

void Script::mend(ReplicaId from, ReplicaId to) {
  if (is_cut(from, to)) faults_.undo(cuts_.at({from, to}));
}

bool Script::is_cut(ReplicaId from, ReplicaId to) const {
  const auto cut = cuts_.find({from, to});
  return cut != cuts_.end() && faults_.active(cut->second);
}

void Script::clock_rate(ReplicaId node, int64_t parts_per_million) {
  const int64_t bound = kRateErrorPpm;
  if (parts_per_million < -bound || parts_per_million > bound) {
    throw Violation("OPTIONS", fmt::format("a clock rate of {} ppm lies outside of what is promised to the protocol, {}",
                                           parts_per_million, bound));
  }
  if (exists(node)) nodes_[place(node)]->clock().set_rate(world_.now(), parts_per_million);
}

}  // namespace coordkit::sim

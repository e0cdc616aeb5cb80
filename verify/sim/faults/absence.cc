#include "sim/faults/absence.h"

#include "raft/members/configuration_rules.h"

namespace coordkit::sim {

void Absence::begin(Duration longest) {
  if (over_) return;
  const std::vector<raft::Member>& voters = members_.newest_committed().voters;
  if (voters.size() < 3) return;  // the others have to be a majority
  const auto node = static_cast<uint32_t>(voters[random_.below(voters.size())].id.value() - 1);
  if (!nodes_[node]->up() || nodes_[node]->frozen() || !members_.member(node)) return;
  world_.trace(node, "is away for long");
  if (random_.chance(0.3)) {
    nodes_[node]->freeze(Node::Freeze::Process);
  } else {
    nodes_[node]->crash(random_.chance(0.5) ? CrashKind::Power : CrashKind::Process);
  }
  away_ = node;
  until_ = world_.now() + longest / 4 + Duration(random_.below(longest.count()));
}

void Absence::end() {
  if (!away_) return;
  if (majority_is_gone()) ++situations_[static_cast<size_t>(Situation::MajorityExchanged)];
  const uint32_t node = *away_;
  away_.reset();
  if (nodes_[node]->frozen()) return nodes_[node]->resume();
  world_.schedule(world_.now(), EventKind::Restart, node);
}

std::optional<uint32_t> Absence::free_machine() const {
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    if (node != away_ && free(node) && !blank(node)) return node;
  }
  return std::nullopt;
}

// One of the members that the absent one knows is taken out.
std::optional<Absence::Exchange> Absence::next() const {
  std::optional<uint32_t> machine;
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    if (free(node) && blank(node) && nodes_[node]->up()) machine = node;
  }
  if (!machine) return std::nullopt;
  for (const raft::Member& known : members_.in_force(*away_).voters) {
    const raft::Member* member = raft::member_of(members_.newest_committed(), known.id);
    if (known.id == ReplicaId(*away_ + 1) || member == nullptr || member->store != known.store) continue;
    return Exchange{*machine, known.id};
  }
  return std::nullopt;
}

bool Absence::free(uint32_t node) const {
  const raft::Configuration& newest = members_.newest_committed();
  return newest.outgoing.empty() && raft::member_of(newest, ReplicaId(node + 1)) == nullptr;
}

bool Absence::blank(uint32_t node) const { return !nodes_[node]->stores().log().durable().last(); }

bool Absence::majority_is_gone() const {
  const auto there = [this](const raft::Member& member) {
    return nodes_[member.id.value() - 1]->stores().log().stands_for(member.store);
  };
  return !MembershipObserver::quorum(members_.in_force(*away_), there);
}

}  // namespace coordkit::sim

#include "raft/members/configuration_rules.h"

#include <algorithm>
#include <optional>

#include "raft/log/entry_codec.h"

namespace coordkit::raft {
namespace {

using Kind = ChangeOutcome::Kind;
using Refusal = std::optional<Kind>;
using Members = std::vector<Member>;

Members::const_iterator find(const Members& members, ReplicaId id) {
  return std::find_if(members.begin(), members.end(), [id](const Member& member) { return member.id == id; });
}
bool contains(const Members& members, ReplicaId id) { return find(members, id) != members.end(); }

void insert(Members& members, const Member& member) {
  const auto after = [](const Member& a, const Member& b) { return a.id < b.id; };
  members.insert(std::upper_bound(members.begin(), members.end(), member, after), member);
}

std::optional<Member> take(Members& members, ReplicaId id) {
  const auto at = find(members, id);
  if (at == members.end()) return std::nullopt;
  Member taken = *at;
  members.erase(at);
  return taken;
}

Refusal move(Members& from, Members& to, ReplicaId id) {
  const std::optional<Member> member = take(from, id);
  if (!member) return Kind::UnknownMember;
  insert(to, *member);
  return std::nullopt;
}

// A data directory belongs to one member. A second member with the same directory would run on a copy of it.
Refusal add_learner(Configuration& next, const Member& member) {
  if (!member.id || is_remote(member.id) || member.address.size() > kAddressBytesMax) return Kind::UnknownMember;
  if (member_of(next, member.id)) return Kind::AlreadyMember;
  if (owner_of(next, member.store)) return Kind::AlreadyMember;
  insert(next.learners, member);
  return std::nullopt;
}

Refusal replace(Configuration& next, ReplicaId replaced, const Member& member) {
  const bool voted = take(next.voters, replaced).has_value();
  if (!voted && !take(next.learners, replaced)) return Kind::UnknownMember;
  if (voted && contains(next.learners, member.id)) return move(next.learners, next.voters, member.id);
  return add_learner(next, member);
}

Refusal apply(Configuration& next, const MemberChange& change) {
  const ReplicaId id = change.member.id;
  switch (change.kind) {
    case MemberChange::Kind::AddLearner: return add_learner(next, change.member);
    case MemberChange::Kind::Promote: return move(next.learners, next.voters, id);
    case MemberChange::Kind::Demote: return move(next.voters, next.learners, id);
    case MemberChange::Kind::Remove:
      if (take(next.voters, id) || take(next.learners, id)) return std::nullopt;
      return Kind::UnknownMember;
    case MemberChange::Kind::Replace: return replace(next, change.replaced, change.member);
  }
  return Kind::UnknownMember;
}

}  // namespace

std::variant<Configuration, ChangeOutcome::Kind> next_configuration(const Configuration& current,
                                                                    std::span<const MemberChange> changes) {
  if (!current.outgoing.empty()) return Kind::ChangeInProgress;
  Configuration next = current;
  for (const MemberChange& change : changes) {
    if (const Refusal refusal = apply(next, change)) return *refusal;
  }
  if (next.voters.empty()) return Kind::LastVoter;
  if (next == current) return Kind::AlreadyMember;
  if (std::max(next.voters.size(), next.learners.size()) > kMembersMax) return Kind::NoRoom;
  if (next.voters != current.voters) next.outgoing = current.voters;
  return next;
}

Configuration leave(Configuration joint) {
  joint.outgoing.clear();
  return joint;
}

const Member* member_of(const Configuration& configuration, ReplicaId id) {
  for (const Members* members : {&configuration.voters, &configuration.outgoing, &configuration.learners}) {
    if (const auto at = find(*members, id); at != members->end()) return &*at;
  }
  return nullptr;
}

const Member* owner_of(const Configuration& configuration, StoreId store) {
  if (!store) return nullptr;
  for (const Members* members : {&configuration.voters, &configuration.outgoing, &configuration.learners}) {
    const auto at = std::find_if(members->begin(), members->end(), [store](const Member& one) { return one.store == store; });
    if (at != members->end()) return &*at;
  }
  return nullptr;
}

}  // namespace coordkit::raft

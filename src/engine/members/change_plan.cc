#include "engine/members/change_plan.h"

#include <algorithm>
#include <variant>

#include "raft/members/configuration_rules.h"

namespace coordkit::engine {
namespace {

using Kind = raft::MemberChange::Kind;

bool includes(const std::vector<raft::Member>& members, ReplicaId id) {
  return std::any_of(members.begin(), members.end(), [id](const raft::Member& member) { return member.id == id; });
}

bool promoted(const Changes& changes, ReplicaId id) {
  return std::any_of(changes.begin(), changes.end(),
                     [id](const auto& change) { return change.kind == Kind::Promote && change.member.id == id; });
}

// A new member replaces a voter.
bool replaces_voter(const raft::Configuration& now, const raft::MemberChange& change) {
  return change.kind == Kind::Replace && includes(now.voters, change.replaced) && !includes(now.learners, change.member.id);
}

const raft::Member* owner_of(const raft::Configuration& now, const std::string& address) {
  for (const auto* members : {&now.voters, &now.learners}) {
    for (const raft::Member& member : *members) {
      if (!address.empty() && member.address == address) return &member;
    }
  }
  return nullptr;
}

std::string replica_text(ReplicaId id) { return "replica " + std::to_string(id.value()); }

// Promoting a voter, or demoting a learner: the member is known, and nothing would change.
std::optional<Objection> already_in_role(const raft::Configuration& now, const raft::MemberChange& change) {
  const std::string who = replica_text(change.member.id);
  if (change.kind == Kind::Promote && includes(now.voters, change.member.id))
    return Objection{Reason::AlreadyExists, who + " is a voter already, so it cannot be promoted"};
  if (change.kind == Kind::Demote && includes(now.learners, change.member.id))
    return Objection{Reason::AlreadyExists, who + " is a learner already, so it cannot be demoted"};
  return std::nullopt;
}

}  // namespace

std::vector<Changes> steps_of(const raft::Configuration& now, const Changes& changes) {
  Changes learning;
  Changes rest;
  bool awaited = false;  // a new member must catch up before the rest
  for (const raft::MemberChange& change : changes) {
    const bool another_learner = change.kind == Kind::Replace && includes(now.learners, change.replaced);
    if (change.kind == Kind::AddLearner || another_learner) {
      awaited = awaited || promoted(changes, change.member.id);
      learning.push_back(change);
    } else if (!replaces_voter(now, change)) {
      rest.push_back(change);
    } else if (change.replaced == change.member.id) {  // an id is listed once: the old disk's vote goes first
      awaited = true;
      learning.push_back(change);
      rest.push_back({.kind = Kind::Promote, .member = change.member});
    } else {
      awaited = true;
      learning.push_back({.kind = Kind::AddLearner, .member = change.member});
      rest.push_back(change);
    }
  }
  if (!awaited) return {changes};
  return {learning, rest};
}

const raft::Member* new_member_of(const raft::Configuration& now, const raft::MemberChange& change) {
  if (change.kind == Kind::AddLearner) return &change.member;
  const bool moves_in =
      change.kind == Kind::Replace && (change.replaced == change.member.id || !includes(now.learners, change.member.id));
  return moves_in ? &change.member : nullptr;
}

std::optional<Objection> judge_changes(const raft::Configuration& now, const Changes& changes) {
  for (const raft::MemberChange& change : changes) {
    const raft::Member* new_member = new_member_of(now, change);
    const raft::Member* owner = new_member ? owner_of(now, new_member->address) : nullptr;
    if (!owner || owner->id == new_member->id || (change.kind == Kind::Replace && owner->id == change.replaced)) continue;
    return Objection{Reason::AlreadyExists, "address " + new_member->address + " belongs to " + replica_text(owner->id) +
                                                " already: give " + replica_text(new_member->id) + " its own"};
  }
  for (size_t taken = 1; taken <= changes.size(); ++taken) {  // finds the first impossible one, so that it can be named
    const Changes some(changes.begin(), changes.begin() + static_cast<ptrdiff_t>(taken));
    const auto next = raft::next_configuration(now, some);
    const auto* refusal = std::get_if<raft::ChangeOutcome::Kind>(&next);
    if (!refusal) continue;
    if (*refusal == raft::ChangeOutcome::Kind::LastVoter && taken < changes.size()) continue;  // a later one may add a voter
    const raft::MemberChange& change = changes[taken - 1];
    if (*refusal == raft::ChangeOutcome::Kind::AlreadyMember && includes(now.learners, change.member.id) &&
        promoted(changes, change.member.id)) {
      return Objection{Reason::AlreadyExists, replica_text(change.member.id) + " is a learner already: promote it"};
    }
    if (*refusal == raft::ChangeOutcome::Kind::UnknownMember) {
      if (const auto has_role = already_in_role(now, change)) return has_role;
    }
    const bool about_replaced = change.kind == Kind::Replace && *refusal == raft::ChangeOutcome::Kind::UnknownMember;
    return explain(*refusal, replica_text(about_replaced ? change.replaced : change.member.id));
  }
  return std::nullopt;
}

Objection explain(raft::ChangeOutcome::Kind outcome, const std::string& about) {
  using End = raft::ChangeOutcome::Kind;
  switch (outcome) {
    case End::NotEnoughVoters:
      return Objection{Reason::NotEnoughVoters,
                       "no majority of the new voters answers, so the cluster would stop: bring them back, or ask for "
                       "a change whose voters are up"};
    case End::LearnerLags:
      return Objection{Reason::NotEnoughVoters, about + " has not caught up, so it may not vote yet; promote it later"};
    case End::LastVoter: return Objection{Reason::NotEnoughVoters, "the change would leave no voter: add a voter first"};
    case End::UnknownMember: return Objection{Reason::MemberNotFound, about + " is not a member: members() lists the members"};
    case End::AlreadyMember:
      return Objection{
          Reason::AlreadyExists,
          about + " is a member already, or runs with the data directory of another member: members() lists the members"};
    case End::NoRoom:
      return Objection{Reason::LimitExceeded, "a cluster has at most 64 voters and 64 learners: remove some first"};
    case End::Conflict: return Objection{Reason::Conflict, "another change of members came first: look at it, and ask again"};
    case End::ChangeInProgress:
      return Objection{Reason::ChangeInProgress,
                       "another change of members, a new leader's first entry or a transfer of leadership was not "
                       "completed before the deadline of the call"};
    case End::NotLeader: return Objection{Reason::NoLeader, "no leader was found before the deadline of the call"};
    case End::Committed:
    case End::Unknown:
    case End::Overwritten: break;
  }
  return Objection{Reason::LeadershipLost, "a later leader's log has something else in its place"};
}

std::string names_of(const Changes& changes) {
  std::string names;
  for (const raft::MemberChange& change : changes) names += (names.empty() ? "" : ", ") + replica_text(change.member.id);
  return names;
}

}  // namespace coordkit::engine

#include "raft/members/change_rules.h"

#include "raft/quorum.h"

namespace coordkit::raft {

// One change at a time, none before an entry of this term is committed (regression R33), and only from the configuration that
// the caller saw.
std::optional<ChangeOutcome::Kind> ChangeRules::refuses(Index expected) const {
  using Kind = ChangeOutcome::Kind;
  const bool too_early = !own_committed_;
  const bool open = log_.commit() < log_.configuration_position().index;
  if (too_early || open) return Kind::ChangeInProgress;
  if (expected != log_.configuration_position().index) return Kind::Conflict;
  if (log_.full()) return Kind::NoRoom;
  return std::nullopt;
}

// The quorum grows only by members that have caught up and answer (thesis 4.2.1; regression R42).
std::optional<ChangeOutcome::Kind> ChangeRules::endangered_by(const Configuration& next) const {
  const auto answers = [&](ReplicaId id) {
    const Progress* peer = peers_.find(id);
    return id == options_.self || (peer && peer->match && peers_.answers(*peer, now_));
  };
  for (const Member& voter : next.voters) {
    if (is_voter(log_.configuration(), voter.id)) continue;
    const Progress* peer = peers_.find(voter.id);
    const bool near = peer && peer->match + options_.promotion_lag_max >= log_.last().index;
    if (!near || !answers(voter.id)) return ChangeOutcome::Kind::LearnerLags;
  }
  if (!quorum_agrees({.voters = next.voters}, answers)) return ChangeOutcome::Kind::NotEnoughVoters;
  return std::nullopt;
}

bool ChangeRules::decided() const { return own_committed_ && log_.commit() >= log_.configuration_position().index; }

}  // namespace coordkit::raft

// Membership changes by the leader (thesis 4.1 - 4.3). A change is a log entry, in force from append on wherever it
// is appended, undone where it is truncated. A leader leaves the joint state as soon as its entry is committed, whichever
// leader began it (regression R46). A leader that is no voter any more leads, without counting itself, until the final entry is
// committed; then it hands over (R40).
#include <utility>

#include "raft/core_impl.h"
#include "raft/entry_codec.h"
#include "raft/membership.h"
#include "raft/quorum.h"

namespace coordkit::raft {

void Core::Impl::on(const ChangeMembership& change) {
  using Kind = ChangeOutcome::Kind;
  const auto refuse = [&](Kind kind) { outbox_.changes.push_back({.ticket = change.ticket, .kind = kind}); };
  if (!leading_) return refuse(Kind::NotLeader);
  if (transfer_.under_way()) return refuse(Kind::ChangeInProgress);
  if (const auto refusal = leading_->refuses_change(change.expected, log_)) return refuse(*refusal);
  auto next = next_configuration(log_.configuration(), change.changes);
  if (const auto* refusal = std::get_if<Kind>(&next)) return refuse(*refusal);
  if (const auto refusal = leading_->endangered_by(std::get<Configuration>(next), log_, now_)) return refuse(*refusal);
  change_.begin(change.ticket, append(EntryKind::Configuration, SharedBytes(encode(std::get<Configuration>(next)))));
}

// One at a time, none before an entry of this term is committed (regression R33), only from the configuration the asker saw.
std::optional<ChangeOutcome::Kind> Leading::refuses_change(Index expected, const Log& log) const {
  using Kind = ChangeOutcome::Kind;
  const bool too_early = !own_entry_committed(log);
  const bool open = log.commit() < log.configuration_index();
  if (too_early || open) return Kind::ChangeInProgress;
  if (expected != log.configuration_index()) return Kind::Conflict;
  if (log.full()) return Kind::NoRoom;
  return std::nullopt;
}

// The quorum grows only by members that have caught up and answer (thesis 4.2.1; regression R42).
std::optional<ChangeOutcome::Kind> Leading::endangered_by(const Configuration& next, const Log& log, LaggingTime now) const {
  const auto answers = [&](ReplicaId id) {
    const Progress* peer = peers_.find(id);
    return id == options_.self || (peer && peer->match && peers_.answers(*peer, now));
  };
  for (const Member& voter : next.voters) {
    if (is_voter(log.configuration(), voter.id)) continue;
    const Progress* peer = peers_.find(voter.id);
    const bool near = peer && peer->match + options_.promotion_lag_max >= log.last().index;
    if (!near || !answers(voter.id)) return ChangeOutcome::Kind::LearnerLags;
  }
  if (!quorum_agrees({.voters = next.voters}, answers)) return ChangeOutcome::Kind::NotEnoughVoters;
  return std::nullopt;
}

bool Leading::change_decided(const Log& log) const {
  return log.commit() >= log.configuration_index() && own_entry_committed(log);
}

// The joint state is not left during a leadership transfer: the target's log would never be complete, and it leaves the joint
// state as well. A leader that is no longer a voter steps down (4.2.2): nothing relied on the part of our tail that the best
// voter lacks; if the order is lost, an election timeout has the same effect.
void Core::Impl::decide_members() {
  if (!leading_->change_decided(log_)) return;
  const Configuration& members = log_.configuration();
  if (!members.outgoing.empty() && !transfer_.under_way()) {
    append(EntryKind::Configuration, SharedBytes(encode(leave(members))));
    return;
  }
  if (is_voter(members, options_->self)) return;
  const ReplicaId successor = leading_->best_successor(log_, now_);
  if (successor) transfer_.send_last_order(successor, log_.term(), outbox_);
  perform({Role::Follower, log_.term()});
}

}  // namespace coordkit::raft

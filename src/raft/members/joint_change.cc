// Membership changes by the leader (thesis 4.1 - 4.3). A change is a log entry. It is in force from its append on wherever it
// is appended, and undone where it is truncated. A leader leaves the joint state as soon as its entry is committed, whichever
// leader began it (regression R46). A leader that is no longer a voter leads, without counting itself, until the final entry
// is committed. Then it hands over (R40).
#include <utility>

#include "raft/core_impl.h"
#include "raft/log/entry_codec.h"
#include "raft/members/configuration_rules.h"
#include "raft/quorum.h"

namespace coordkit::raft {

void Core::Impl::on(const ChangeMembership& change) {
  using Kind = ChangeOutcome::Kind;
  const auto refuse = [&](Kind kind) { outbox_.changes.push_back({.ticket = change.ticket, .kind = kind}); };
  if (!leading_) return refuse(Kind::NotLeader);
  if (transfer_.under_way()) return refuse(Kind::ChangeInProgress);
  const ChangeRules rules = leading_->change_rules(log_, now_);
  if (const auto refusal = rules.refuses(change.expected)) return refuse(*refusal);
  auto next = next_configuration(log_.configuration(), change.changes);
  if (const auto* refusal = std::get_if<Kind>(&next)) return refuse(*refusal);
  if (const auto refusal = rules.endangered_by(std::get<Configuration>(next))) return refuse(*refusal);
  change_.begin(change.ticket, append(EntryKind::Configuration, SharedBytes(encode(std::get<Configuration>(next)))));
}

// A campaign by members that are no longer settled could only raise terms. A leader's log has all that is settled.
void Core::Impl::on(SettledMembers& told) {
  if (leading_ || !reach_.covers(told.known_in) || !log_.learn(std::move(told))) return;
  if (roles_.role() != Role::Follower) roles_.step_down(log_.term());
}

// The joint state is not left during a leadership transfer: otherwise the target's log would never be complete. The target
// leaves the joint state as well. A leader that is no longer a voter steps down (4.2.2). Nothing relied on the part of our
// tail that the best voter lacks. If the order is lost, an election timeout has the same effect.
void Core::Impl::decide_members() {
  if (!leading_->change_rules(log_, now_).decided()) return;
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

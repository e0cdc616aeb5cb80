// Membership in the core (thesis 4.1 - 4.3). A change is a log entry, in force from append on wherever it is appended, undone
// where it is truncated. Whoever leads leaves the joint state as soon as its entry is committed (regression R46). A leader
// that is no voter any more leads, without counting itself, until the final entry is committed; then it hands over (R40).
#include <algorithm>

#include "base/entry_codec.h"
#include "base/mutant.h"
#include "base/sums.h"
#include "raft/core_impl.h"
#include "raft/membership.h"

namespace coordkit::raft {

void Core::Impl::on(const ChangeMembership& change) {
  const auto refuse = [&](ChangeFate::Kind kind) { changes_.push_back({.ticket = change.ticket, .kind = kind}); };
  if (const auto refusal = refuses_changes(change.expected)) return refuse(*refusal);
  auto next = next_configuration(configuration(), change.changes);
  if (const auto* refusal = std::get_if<ChangeFate::Kind>(&next)) return refuse(*refusal);
  if (const auto refusal = endangered_by(std::get<Configuration>(next))) return refuse(*refusal);
  append_configuration(std::get<Configuration>(next));
  change_ = PendingChange{change.ticket, log_.last()};
}

// One at a time, none before an entry of this term is committed (regression R33), and only from where the asker stood.
std::optional<ChangeFate::Kind> Core::Impl::refuses_changes(Index expected) const {
  using Kind = ChangeFate::Kind;
  if (!leads()) return Kind::NotLeader;
  const bool too_early = commit_ < leader_start_ && !mutant(Mutant::ChangesTooSoon);
  const bool open = commit_ < log_.configuration_index() && !mutant(Mutant::TwoChangesAtOnce);
  if (handover_ || too_early || open) return Kind::ChangeInProgress;
  if (expected != log_.configuration_index() && !mutant(Mutant::TwoChangesAtOnce)) return Kind::Conflict;
  if (log_.last().index.value() >= kCountMax) return Kind::NoRoom;
  return std::nullopt;
}

// The quorum grows only by who has caught up and answers (thesis 4.2.1; regression R42).
std::optional<ChangeFate::Kind> Core::Impl::endangered_by(const Configuration& next) const {
  if (mutant(Mutant::PromotesTheAbsent)) return std::nullopt;
  const Configuration& now = configuration();
  const auto answers = [this](ReplicaId id) {
    const Progress* peer = progress_of(id);
    return is_self(id) || (peer && peer->match && now_ - peer->contact < options_.election_timeout);
  };
  for (const Member& voter : next.voters) {
    if (is_voter(now, voter.id)) continue;
    const Progress* peer = progress_of(voter.id);
    const bool near = peer && peer->match + options_.promotion_lag_max >= log_.last().index;
    if (!near || !answers(voter.id)) return ChangeFate::Kind::LearnerLags;
  }
  if (!quorum_agrees({.voters = next.voters}, answers)) return ChangeFate::Kind::NotEnoughVoters;
  return std::nullopt;
}

void Core::Impl::append_configuration(const Configuration& next) {
  Entry entry{.index = log_.last().index.next(),
              .term = term(),
              .kind = EntryKind::Configuration,
              .payload = SharedBytes(encode(next))};
  entry.content_sum = content_sum(options_.group, entry.term, entry.index, entry.kind, entry.payload.view());
  append(std::move(entry));
}

// Not while leadership is handed over: the target's log would never be complete, and it leaves the joint state as well.
void Core::Impl::leave_joint() {
  const bool settled = commit_ >= log_.configuration_index() && commit_ >= leader_start_;
  if (configuration().outgoing.empty() || !settled || handover_ || mutant(Mutant::StaysJoint)) return;
  append_configuration(leave(configuration()));
}

// Thesis 4.2.2. What the best voter lacks of our tail nobody counted on; if the order is lost, a silence does the same.
void Core::Impl::retire() {
  if (mutant(Mutant::RemovedLeaderStays)) return;
  if (is_voter(configuration(), options_.self) || commit_ < log_.configuration_index() || commit_ < leader_start_) return;
  if (const ReplicaId successor = best_successor([](ReplicaId) { return true; })) {
    lease_void_ = term();
    send(successor, WriteNumber(), TimeoutNow{term()});
  }
  perform({Role::Follower, term(), ReplicaId()});
}

// Every replica that took a change can tell its fate from its own log, leader or not (regression R45).
void Core::Impl::judge_change() {
  if (!change_) return;
  const Index at = change_->at.index;
  const auto tell = [this](ChangeFate::Kind kind, Index configuration) {
    changes_.push_back({change_->ticket, kind, configuration});
    change_.reset();
  };
  const bool lost = at > log_.last().index || (at > commit_ && log_.term_at(at) != change_->at.term);
  const bool replaced = at <= commit_ && at > log_.base().index && log_.term_at(at) != change_->at.term;
  if (lost || replaced) return tell(ChangeFate::Kind::Overwritten, Index());
  const auto& [position, committed] = log_.configuration_at(commit_);
  if (at <= position.index && committed.outgoing.empty()) tell(ChangeFate::Kind::Committed, position.index);
}

// ---- who may vote, who is told to be out

// A replica votes although its own log does not name it a voter, or names the disk that it had before, if the candidate's log
// goes further and may name it (thesis 4.1): a majority of the new voters must not depend on who heard of it first. Whoever
// counts hears only the stores that its own configuration names.
bool Core::Impl::may_vote(const VoteRequest& request) const {
  return (own_store() && is_voter(configuration(), options_.self)) || newer(request.last, log_.last());
}

bool Core::Impl::own_store() const {
  const Member* self = member_of(configuration(), options_.self);
  return !self || !options_.store || self->store == options_.store || mutant(Mutant::OtherDiskVotes);
}

// Also who is no voter by an entry that may not be committed campaigns: the others may need its longer log (thesis 4.2.2).
// It never counts itself. The one before the newest is committed, whatever is known here of the commit after a restart; then
// it may have to be told that the newest is, too.
bool Core::Impl::electable() const {
  const Index newest = log_.configuration_index();
  const Index sure = commit_ < newest ? newest.previous() : commit_;
  return is_voter(configuration(), options_.self) || is_voter(log_.configuration_at(sure).configuration, options_.self);
}

// No voter by what is committed here, nor by what may yet be; and its log does not reach the entry that says so, or there is
// a leader and it does not know that the entry is committed.
bool Core::Impl::removed_unawares(ReplicaId from, const VoteRequest& request) const {
  const auto& [position, committed] = log_.configuration_at(commit_);
  if (mutant(Mutant::RemovedNeverTold)) return false;
  return !is_voter(configuration(), from) && !is_voter(committed, from) &&
         (newer(position, request.last) || refuses_company(request));
}

// Our log may be older than the configuration that made `from` a member. A candidate proves nothing and is judged like any
// other (4.1). A leader shows itself by an append, of a term not yet over; once it is followed its orders count as well.
bool Core::Impl::heard_as_stranger(ReplicaId from, const Message& message) const {
  if (std::holds_alternative<VoteRequest>(message)) return true;
  if (const auto* append = std::get_if<AppendRequest>(&message)) return append->term >= term();
  const bool order = std::holds_alternative<Heartbeat>(message) || std::holds_alternative<TimeoutNow>(message);
  return order && leadership_.leader == from && std::visit([](const auto& value) { return value.term; }, message) == term();
}

}  // namespace coordkit::raft

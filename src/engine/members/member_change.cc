#include "engine/members/member_change.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "coordkit/engine/wire.h"
#include "raft/members/configuration_rules.h"
#include "raft/quorum.h"

namespace coordkit::engine {
namespace {

using ChangeEnd = raft::ChangeOutcome::Kind;

std::string replica(ReplicaId id) { return "replica " + std::to_string(id.value()); }

std::string grouped(uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string described(const ChangeReply& refusal, uint64_t lag_max) {
  switch (refusal.outcome) {
    case ChangeEnd::LearnerLags:
      if (refusal.lag <= lag_max) return replica(refusal.lagging) + " does not answer the leader; it is promoted when it does";
      return replica(refusal.lagging) + " is " + grouped(refusal.lag) + " entries behind; it is promoted at " +
             grouped(lag_max) + " or fewer";
    case ChangeEnd::NotEnoughVoters: return "no majority of the new voters answers the leader";
    case ChangeEnd::ChangeInProgress:
    case ChangeEnd::Conflict: return "another change, or a new leader's first entry, is still to be committed";
    case ChangeEnd::NoRoom: return "the leader has no room";
    default: return "the leader has been asked and has not answered yet";
  }
}

}  // namespace

// ---- new calls

void MemberChange::start(ChangeMembers call, Index at, const raft::Configuration& applied,
                         std::vector<Completion>& completions) {
  const auto refuse = [&](absl::Status status) { completions.push_back({.ticket = call.ticket, .status = std::move(status)}); };
  if (call_) {
    return refuse(make_error(Reason::ChangeInProgress,
                             "this replica is still busy with another change of members: wait for its end, which "
                             "health().change explains"));
  }
  const bool nameless = std::any_of(call.changes.begin(), call.changes.end(), [](const raft::MemberChange& change) {
    return !change.member.id || (change.kind == raft::MemberChange::Kind::Replace && !change.replaced);
  });
  if (call.changes.empty() || call.changes.size() > kChangesMax || nameless) {
    return refuse(make_error(Reason::InvalidArgument, "a change of members names 1 to " + std::to_string(kChangesMax) +
                                                          " wishes, each with the id of a replica, from 1"));
  }
  call_ = std::move(call);
  at_ = at;
  applied_ = applied;
  steps_.clear();
  begun_ = false;
  step_.begin();
  meeting_.clear();
  if (at_) rebase(at_, applied_, completions);
}

void MemberChange::forget(Ticket ticket) {
  if (call_ && call_->ticket == ticket) call_.reset();
}

std::string MemberChange::waits_for(bool leader_known) const {
  if (!call_) return {};
  if (!leader_known) return "no leader is known, and only a leader can change the members";
  if (!meeting_.empty()) return meeting_;
  if (step_.leaving()) return "the leader completes it";
  if (!applied_.outgoing.empty()) return "another change is still to be completed";
  if (step_.refusal()) return described(*step_.refusal(), options_.raft.promotion_lag_max);
  return "the leader has been asked and has not answered yet";
}

// ---- what our own log shows

void MemberChange::applied(Index at, const raft::Configuration& configuration, std::vector<Completion>& completions) {
  if (!call_) return;
  if (!step_.led_to(configuration)) return rebase(at, configuration, completions);
  at_ = at;
  applied_ = configuration;
  step_.applied(configuration);
  if (!step_.leaving()) step_done(at, completions);
}

void MemberChange::step_done(Index at, std::vector<Completion>& completions) {
  steps_.pop_front();
  step_.begin();
  begun_ = true;
  if (steps_.empty()) complete(absl::OkStatus(), at, completions);
}

// Another caller's configuration: a request based on an older one has no effect, now or ever.
void MemberChange::rebase(Index at, const raft::Configuration& configuration, std::vector<Completion>& completions) {
  at_ = at;
  applied_ = configuration;
  step_.restart();
  const bool expects_older = call_->expected && !begun_ && *call_->expected < at;
  if (expects_older) {
    return refuse(
        {Reason::Conflict, "the configuration of entry " + std::to_string(at.value()) + " is in force, not that of entry " +
                               std::to_string(call_->expected->value()) + ": look at the members again, and ask again"},
        completions);
  }
  if (!applied_.outgoing.empty()) return;  // leaving it follows by itself
  if (!begun_) steps_.clear();
  if (const auto objection = judge_changes(applied_, begun_ ? steps_.front() : call_->changes)) {
    refuse(begun_ ? explain(ChangeEnd::Conflict, {}) : *objection, completions);
  }
}

// A state replaced the log: what lay between the configuration we knew and this one is not known.
void MemberChange::state_replaced(Index at, const raft::Configuration& configuration, std::vector<Completion>& completions) {
  if (!call_ || at == at_) return;
  if (step_.led_to(configuration) || !may_take_effect()) return applied(at, configuration, completions);
  fail(Reason::LeadershipLost, "this replica was sent a state instead of the log entries of the change: look at the members",
       completions);
}

// ---- answers of the leader

void MemberChange::replied(const ChangeReply& reply, LaggingTime now, std::vector<Completion>& completions) {
  if (!call_ || !step_.result() || reply.attempt != attempt_) return;
  if (reply.outcome == ChangeEnd::Committed) {  // our own apply will show it, unless this very change removes us
    if (steps_.size() == 1 && leaves_by_it()) complete(absl::OkStatus(), reply.configuration, completions);
    return;
  }
  if (reply.outcome == ChangeEnd::Unknown) return;  // as above
  step_.refused(reply, now);
  if (step_.hopeless(now)) refuse(explain(reply.outcome, {}), completions);
}

bool MemberChange::leaves_by_it() const {
  const raft::Configuration after = raft::leave(*step_.result());
  const raft::Member* self = raft::member_of(after, options_.raft.self);
  return !self || self->store != store_;
}

void MemberChange::removed(std::vector<Completion>& completions) {
  if (!call_) return;
  const bool requested = std::all_of(call_->changes.begin(), call_->changes.end(), [this](const raft::MemberChange& change) {
    return change.kind == raft::MemberChange::Kind::Remove && change.member.id == options_.raft.self;
  });
  if (requested) return complete(absl::OkStatus(), Index(), completions);
  fail(Reason::Removed, "this replica is not a member any more: ask another one what became of the change", completions);
}

// ---- asking

bool MemberChange::asks() const {
  if (!call_ || !at_ || step_.leaving() || !applied_.outgoing.empty()) return false;
  return !call_->expected || begun_ || *call_->expected <= at_;  // else our log has not reached it yet
}

std::optional<ChangeRequest> MemberChange::question(LaggingTime now, const PeerSet& peers,
                                                    std::vector<Completion>& completions) {
  if (!asks() || now < step_.ask_at()) return std::nullopt;
  if (!meet(peers)) {
    step_.ask_at(now + options_.raft.heartbeat_interval);
    return std::nullopt;
  }
  if (steps_.empty()) {
    const std::vector<Changes> steps = steps_of(applied_, call_->changes);
    steps_.assign(steps.begin(), steps.end());
  }
  const auto next = raft::next_configuration(applied_, steps_.front());
  if (const auto* refusal = std::get_if<ChangeEnd>(&next)) {
    refuse(begun_ ? explain(ChangeEnd::Conflict, {}) : explain(*refusal, names_of(steps_.front())), completions);
    return std::nullopt;
  }
  step_.asked(std::get<raft::Configuration>(next), now);
  return ChangeRequest{++attempt_, at_, steps_.front()};
}

// The store ids of new members that came without one are those of their hellos. For a replaced disk the new one must be up.
bool MemberChange::meet(const PeerSet& peers) {
  meeting_.clear();
  if (!steps_.empty()) return true;
  for (raft::MemberChange& change : call_->changes) {
    const raft::Member* new_member = new_member_of(applied_, change);
    if (!new_member || new_member->store) continue;
    const Hello* hello = peers.hello_of(new_member->id);
    const raft::Member* previous = raft::member_of(applied_, new_member->id);
    if (!hello) {
      const std::string refused = peers.why_refused(new_member->id);
      meeting_ = replica(new_member->id) + " was not met yet at " + new_member->address + ": " +
                 (refused.empty() ? "is it running there, under the same cluster name?" : refused);
    } else if (previous && previous->store == hello->store) {
      meeting_ = replica(new_member->id) + " still runs with the data directory that is to be replaced";
      if (!raft::is_voter(applied_, new_member->id)) {
        meeting_ += ", as a learner: if an earlier call already replaced the directory, end this call and promote the learner";
      }
    } else {
      change.member.store = hello->store;
      continue;
    }
    return false;
  }
  return true;
}

std::vector<Peer> MemberChange::prospects() const {
  std::vector<Peer> peers;
  if (!call_) return peers;
  for (const raft::MemberChange& change : call_->changes) {
    const raft::Member* new_member = new_member_of(applied_, change);
    if (new_member && !new_member->address.empty()) peers.push_back({new_member->id, new_member->address, new_member->store});
  }
  return peers;
}

// ---- the end

void MemberChange::complete(absl::Status status, Index index, std::vector<Completion>& completions) {
  completions.push_back({.ticket = call_->ticket, .status = std::move(status), .index = index});
  call_.reset();
}

// Definite: the current step has no effect and never will. An earlier one may have.
void MemberChange::refuse(const Objection& objection, std::vector<Completion>& completions) {
  if (!begun_) return complete(make_error(objection.reason, Outcome::NoEffect, objection.sentence), Index(), completions);
  complete(make_error(objection.reason, Outcome::Done, objection.sentence + "; the added replica stays a learner"), Index(),
           completions);
}

void MemberChange::expire(LaggingTime now, bool leader_known, std::vector<Completion>& completions) {
  if (!call_ || now < call_->deadline) return;
  const std::string waited = waits_for(leader_known);
  if (may_take_effect()) {
    return fail(Reason::CallTimeout, "no answer before the deadline of the call; it may still take effect: " + waited,
                completions);
  }
  if (!leader_known) return refuse(explain(ChangeEnd::NotLeader, {}), completions);
  const std::optional<ChangeReply>& refusal = step_.refusal();
  if (!refusal || !meeting_.empty()) {
    return refuse({Reason::CallTimeout, "not begun before the deadline of the call: " + waited}, completions);
  }
  const bool crossed = refusal->outcome == ChangeEnd::Conflict || refusal->outcome == ChangeEnd::Overwritten;
  refuse(explain(crossed ? ChangeEnd::ChangeInProgress : refusal->outcome, replica(refusal->lagging)), completions);
}

void MemberChange::fail(Reason reason, std::string_view why, std::vector<Completion>& completions) {
  if (!call_) return;
  const Outcome definite = begun_ ? Outcome::Done : Outcome::NoEffect;
  complete(make_error(reason, may_take_effect() ? Outcome::Unknown : definite, why), Index(), completions);
}

LaggingTime MemberChange::next_deadline(bool leader_known) const {
  if (!call_) return LaggingTime::max();
  return leader_known && asks() ? std::min(call_->deadline, step_.ask_at()) : call_->deadline;
}

}  // namespace coordkit::engine

// The first half of a turn: what happened outside, one handler per kind of input and per message between engines.
#include <utility>

#include "base/mutant.h"
#include "engine/engine_impl.h"

namespace coordkit::engine {

void EngineImpl::take_inputs(Now now) {
  while (!inbox_.empty()) {
    EngineInput input = std::move(inbox_.front());  // first of all, so that it is not seen twice if it makes us halt
    inbox_.pop_front();
    std::visit([&](auto& one) { take(one, now); }, input);
  }
}

void EngineImpl::receive(ReplicaId from, Forward& message, Now now) {
  if (!leads()) return refuse(from, Refusal::Why::NotLeader);
  raft::Propose propose;
  for (SharedBytes& command : message.commands) {
    const auto decoded = decode_command(command.view());
    const bool fired = decoded.ok() && std::holds_alternative<FireTimers>(*decoded) && !mutant(Mutant::FollowersTimersCount);
    if (!decoded.ok() || fired) continue;  // only a leader says what fired
    const auto* vote = std::get_if<DigestVote>(&*decoded);
    if (vote && vote->replica != from) continue;
    const auto* request = std::get_if<Request>(&*decoded);
    if (request && !router_.hosts(*request)) continue;  // what this replica cannot execute it does not propose
    if (!mutant(Mutant::CopiesEnterTheLog) && has_already(*decoded)) continue;
    const Ticket ticket = std::exchange(next_ticket_, next_ticket_.next());
    if (request) forwarded_.proposed(ticket, request->id);
    propose.proposals.push_back({ticket, raft::EntryKind::Command, std::move(command)});
  }
  if (!propose.proposals.empty()) core_->step(std::move(propose), now.lagging);
}

// Once is enough: whoever hands it over again is behind, and finds the answer in its own log or in a state that it is sent.
bool EngineImpl::has_already(const LogCommand& command) const {
  if (const auto* registration = std::get_if<RegisterOrigin>(&command)) {
    return router_.origins().registered(registration->origin);
  }
  const auto* request = std::get_if<Request>(&command);
  return request && (forwarded_.under_way(request->id) || router_.executed(*request));
}

void EngineImpl::receive(ReplicaId, Refusal&, Now) {
  // The core learns of the new leader by itself; what was handed over is handed over again then, or when nothing is heard.
}

void EngineImpl::receive(ReplicaId from, ReadIndexRequest& message, Now now) {
  if (!leads()) return refuse(from, Refusal::Why::NotLeader);
  confirm(PeerRead{from, message.id}, now);
}

void EngineImpl::receive(ReplicaId, ReadIndexReply& message, Now) {
  if (message.held == raft::Answer::Yes) reads_.confirmed(message.id, message.read_index);
}

void EngineImpl::receive(ReplicaId from, RenewRequest& message, Now now) {
  if (!leads()) return refuse(from, Refusal::Why::NotLeader);
  renewals_.receive({from, now.lagging, std::move(message)});
}

void EngineImpl::receive(ReplicaId, RenewReply& message, Now) { effects_->renewals.push_back(std::move(message)); }

void EngineImpl::refuse(ReplicaId to, Refusal::Why why) {
  effects_->sends.push_back({to, Refusal{why, leadership_.term, leadership_.leader}});
}

void EngineImpl::take(LogWritten& input, Now now) {
  durable_ = std::max(durable_, input.number);
  writing_since_ = durable_ < submitted_ ? std::optional(now.lagging) : std::nullopt;
  if (core_) {
    if (durable_.value() > writes_before_core_) {
      core_->step(raft::Written{WriteNumber(durable_.value() - writes_before_core_)}, now.lagging);
    }
    return;
  }
  if (!founding_write_) return;
  const raft::Genesis genesis = *std::exchange(founding_write_, std::nullopt);
  attestation_.begin(Attestation::Disk::Blank);
  start_core({.hard_state = {Term(1), ReplicaId()},
              .configuration = genesis.configuration,
              .entries = {genesis_entry(options_.raft.group, genesis)}},
             now.lagging);
}

void EngineImpl::take(LogWasRead& input, Now now) {
  // What a peer wants and cannot be read goes with the next checkpoint; the peer is sent the state.
  if (core_ && absl::IsDataLoss(input.entries.status()) && input.first <= router_.applied().index) {
    log_damaged(input.first, input.entries.status(), now);
  }
  if (core_) core_->step(raft::LogRead{input.first, std::move(input.entries)}, now.lagging);
}

void EngineImpl::take(StateCheckpointed& input, Now now) {
  checkpoint_under_way_ = false;
  checkpointed_ = input.applied.index;
  const Index unreadable = repair_.checkpointed(checkpointed_);
  if (core_) core_->step(raft::Checkpointed{input.applied, unreadable}, now.lagging);
}

void EngineImpl::take(StoreFailed& input, Now) { halt(std::move(input.why)); }

void EngineImpl::take(LogSpaceChanged& input, Now) { log_space_ = input.space; }

// One budget of bytes and one count for commands and questions together, so that memory is bounded whoever calls.
absl::Status EngineImpl::refusal_at_door(Urgency urgency, size_t bytes) const {
  if (halted_) return make_error(Reason::ReplicaFailed, Outcome::None, "this replica has stopped: " + reason_);
  if (removed_) return make_error(Reason::Removed, "this replica was removed from the cluster; use another one");
  if (uninvited_ && !core_) return make_error(Reason::NotMember, founding_.reason());
  if (quarantined_) return make_error(Reason::NotReady, "this replica is in quarantine: " + reason_);
  const size_t requests = proposals_.size() + reads_.size();
  const bool reserved = urgency == Urgency::Reserved;
  if (!reserved && requests >= options_.requests_max && !mutant(Mutant::DoorNeverCloses)) {
    return make_error(Reason::TooManyRequests, "this replica has " + std::to_string(requests) +
                                                   " calls under way; wait for some to end before starting more");
  }
  const size_t budget = options_.request_bytes_in_flight_max;
  const size_t used = proposals_.bytes() + reads_.bytes();
  if (used + bytes <= (reserved ? budget + budget / 4 : budget)) return absl::OkStatus();
  return make_error(Reason::TooManyRequests, "calls with " + std::to_string(used) +
                                                 " bytes are under way at this replica, of " + std::to_string(budget) +
                                                 "; wait for some to end, or raise request_bytes_in_flight_max");
}

absl::Status EngineImpl::refusal_for_space(Urgency urgency) const {
  if (log_space_ == LogSpace::Ample || urgency == Urgency::Reserved) return absl::OkStatus();
  return make_error(Reason::NoSpace,
                    "the disk of this replica's log is nearly full: free some space; releases, renewals and "
                    "reads go on");
}

// The operator's choice: callers wait rather than a voter stays behind (raft::Options::follower_lag_bytes_max).
absl::Status EngineImpl::refusal_for_lag(Urgency urgency) const {
  if (urgency == Urgency::Reserved || !knows_leader() || !core_->holds_back()) return absl::OkStatus();
  return make_error(Reason::TooManyRequests,
                    "a voter is further behind the leader than follower_lag_bytes_max allows, and new commands wait for it: "
                    "try again; releases, renewals and reads go on");
}

void EngineImpl::take(Submit& input, Now) {
  absl::Status refusal = refusal_at_door(input.urgency, bytes_of(input));
  if (refusal.ok()) refusal = refusal_for_space(input.urgency);
  if (refusal.ok()) refusal = refusal_for_lag(input.urgency);
  if (refusal.ok() && (!router_.machine(input.machine) || (input.guard && !router_.machine(input.guard->machine)))) {
    refusal = make_error(Reason::Unsupported,
                         "no machine with this id is hosted here; list it in ReplicaOptions::machines of every replica");
  }
  if (!refusal.ok()) {
    effects_->completions.push_back({.ticket = input.ticket, .status = std::move(refusal)});
    return;
  }
  proposals_.submit(std::move(input), effects_->completions);
}

void EngineImpl::take(Ask& input, Now now) {
  const bool local = input.consistency == Consistency::Local;
  absl::Status refusal = refusal_at_door(Urgency::Normal, input.question ? input.question->size() : 0);
  if (refusal.ok() && !router_.machine(input.machine)) {
    refusal = make_error(Reason::Unsupported,
                         "no machine with this id is hosted here; list it in ReplicaOptions::machines of every replica");
  }
  if (refusal.ok() && local && !core_) {
    refusal = make_error(Reason::NotReady, "this replica has no state yet: " + founding_.reason());
  }
  if (!refusal.ok()) {
    effects_->completions.push_back({.ticket = input.ticket, .status = std::move(refusal)});
    return;
  }
  if (local) {
    const Index at_least = input.at_least;
    reads_.await(at_least, std::move(input));
  } else if (const std::optional<Index> leased = input.consistency == Consistency::Lease ? lease(now) : std::nullopt) {
    reads_.await(*leased, std::move(input));
  } else {
    reads_.ask(std::move(input));
  }
}

// The index a leader may read at without asking, if its lease holds at this moment of the turn. A holder errs on the early
// side: sleep counts (docs/time.md).
std::optional<Index> EngineImpl::lease(Now now) const {
  const std::optional<raft::Lease> lease = core_ ? core_->lease() : std::nullopt;
  if (!lease) return std::nullopt;
  const Duration left = options_.raft.lease - (now.lagging - lease->since);
  const bool awake = sleep_.since(lease->since) < left || mutant(Mutant::LeaseIgnoresSleep);
  return left > Duration::zero() && awake ? std::optional(lease->read_index) : std::nullopt;
}

void EngineImpl::take(Renew& input, Now now) {
  if (!knows_leader() || halted_) return;  // the sender asks again
  if (leads()) {
    renewals_.receive({self(), now.lagging, std::move(input.request)});
  } else {
    effects_->sends.push_back({leadership_.leader, std::move(input.request)});
  }
}

void EngineImpl::take(Forget& input, Now) {
  proposals_.forget(input.ticket);
  reads_.forget(input.ticket);
  change_.forget(input.ticket);
  transfer_.forget(input.ticket);
}

}  // namespace coordkit::engine

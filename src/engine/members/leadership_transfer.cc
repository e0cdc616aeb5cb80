#include "engine/members/leadership_transfer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "coordkit/engine/wire.h"

namespace coordkit::engine {
namespace {

using TransferEnd = raft::TransferOutcome::Kind;

constexpr int kUnfitTimeouts = 2;       // election timeouts in which a suitable voter may appear
constexpr int kUnansweredTimeouts = 2;  // election timeouts: then the question, or its answer, is taken for lost

bool lists(const std::vector<raft::Member>& members, ReplicaId id) {
  return std::any_of(members.begin(), members.end(), [id](const raft::Member& member) { return member.id == id; });
}

absl::Status unfit(ReplicaId target) {
  if (!target) return make_error(Reason::NotEnoughVoters, "no other voter is up, so leadership stays where it is");
  return make_error(Reason::NotEnoughVoters,
                    "replica " + std::to_string(target.value()) + " has no vote, so it cannot lead: promote it first");
}

}  // namespace

void LeadershipTransfer::start(const TransferLeadership& call, const raft::Configuration& in_force,
                               const raft::Leadership& leadership, std::vector<Completion>& completions) {
  const auto end = [&](absl::Status status) { completions.push_back({.ticket = call.ticket, .status = std::move(status)}); };
  if (call_) {
    return end(make_error(Reason::ChangeInProgress,
                          "another transfer of leadership is under way at this replica; wait for its answer"));
  }
  const ReplicaId target = call.target;
  if (target && target == leadership.leader) return end(absl::OkStatus());
  if (target && !lists(in_force.voters, target)) {
    if (lists(in_force.learners, target) || lists(in_force.outgoing, target)) return end(unfit(target));
    return end(make_error(Reason::MemberNotFound,
                          "replica " + std::to_string(target.value()) + " is not a member: members() lists the members"));
  }
  call_ = call;
  previous_ = ReplicaId();
  unanswered_ = false;
  unfit_since_.reset();
  ask_at_ = LaggingTime::min();
}

void LeadershipTransfer::forget(Ticket ticket) {
  if (call_ && call_->ticket == ticket) call_.reset();
}

void LeadershipTransfer::leader_started(const raft::Leadership& leadership, Index at, std::vector<Completion>& completions) {
  if (call_ && leadership.leader && moved_to(leadership.leader)) complete(absl::OkStatus(), at, completions);
}

bool LeadershipTransfer::moved_to(ReplicaId leader) const {
  return call_->target ? leader == call_->target : previous_ && leader != previous_;
}

// Lost, Expired, InProgress and NotLeader are temporary, not final: it is asked again until the deadline.
void LeadershipTransfer::replied(const TransferReply& reply, LaggingTime now, std::vector<Completion>& completions) {
  if (!call_ || reply.attempt != attempt_) return;
  unanswered_ = reply.outcome == TransferEnd::InProgress || reply.outcome == TransferEnd::Done;
  if (reply.outcome == TransferEnd::Unfit && unfit_for_long(now)) return complete(unfit(call_->target), Index(), completions);
  if (reply.outcome != TransferEnd::Unfit) unfit_since_.reset();
  ask_at_ = now + options_.raft.election_timeout;
}

// A leader that was just elected has not heard from anyone yet.
bool LeadershipTransfer::unfit_for_long(LaggingTime now) {
  if (!unfit_since_) unfit_since_ = now;
  return now - *unfit_since_ >= kUnfitTimeouts * options_.raft.election_timeout;
}

std::optional<TransferRequest> LeadershipTransfer::question(LaggingTime now, ReplicaId leader) {
  if (!call_ || now < ask_at_) return std::nullopt;
  ask_at_ = now + kUnansweredTimeouts * options_.raft.election_timeout;
  if (moved_to(leader)) return std::nullopt;  // its first entry is on its way
  if (!previous_) previous_ = leader;
  unanswered_ = true;
  const Duration time_left = std::clamp<Duration>(call_->deadline - now, Duration::zero(), kTransferTimeMax);
  return TransferRequest{++attempt_, call_->target, time_left};
}

void LeadershipTransfer::expire(LaggingTime now, std::vector<Completion>& completions) {
  if (!call_ || now < call_->deadline) return;
  if (!previous_)
    return fail(Reason::NoLeader, "no leader was found before the deadline of the call; nothing was done", completions);
  fail(Reason::CallTimeout, "leadership was not handed over before the deadline of the call; the leader continues",
       completions);
}

void LeadershipTransfer::fail(Reason reason, std::string_view why, std::vector<Completion>& completions) {
  if (call_) complete(make_error(reason, unanswered_ ? Outcome::Unknown : Outcome::NoEffect, why), Index(), completions);
}

void LeadershipTransfer::complete(absl::Status status, Index index, std::vector<Completion>& completions) {
  completions.push_back({.ticket = call_->ticket, .status = std::move(status), .index = index});
  call_.reset();
}

LaggingTime LeadershipTransfer::next_deadline(bool leader_known) const {
  if (!call_) return LaggingTime::max();
  return leader_known ? std::min(call_->deadline, ask_at_) : call_->deadline;
}

}  // namespace coordkit::engine

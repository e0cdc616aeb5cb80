#include "service/operate/membership_calls.h"

#include <algorithm>
#include <utility>

#include "service/calls/waiting.h"

namespace coordkit {
namespace {

LaggingTime later(LaggingTime now, Duration timeout) { return now + std::min<Duration>(timeout, std::chrono::hours(24 * 365)); }

absl::Status replica_failed(Outcome outcome, const absl::Status& why) {
  return make_error(Reason::ReplicaFailed, outcome, "this replica has stopped: " + std::string(sentence_of(why)));
}

}  // namespace

absl::Status MembershipCalls::refusal(Duration timeout) const {
  if (stopped_) return failure_.ok() ? closed_already() : replica_failed(Outcome::NoEffect, failure_);
  if (timeout > Duration::zero()) return absl::OkStatus();
  return make_error(Reason::InvalidArgument, "the timeout must be above zero");
}

Ticket MembershipCalls::enlist(Callback<Index> done) {
  const Ticket ticket = std::exchange(next_, next_.next());
  calls_.emplace(ticket, std::move(done));
  return ticket;
}

Ticket MembershipCalls::change(Engine& engine, LaggingTime now, const MembershipChange& change, MembershipOptions options,
                               Callback<Index> done) {
  absl::Status wrong = stopped_ ? absl::OkStatus() : change.validate(host_and_port_);
  if (wrong.ok()) wrong = refusal(options.timeout);
  if (!wrong.ok()) {
    std::move(done)(std::move(wrong));
    return {};
  }
  const Ticket ticket = enlist(std::move(done));
  engine.post(ChangeMembers{ticket, change.changes(), options.expected, later(now, options.timeout)});
  return ticket;
}

Ticket MembershipCalls::transfer(Engine& engine, LaggingTime now, ReplicaId target, Duration timeout, DoneCallback done) {
  const absl::Status wrong = refusal(timeout);
  if (!wrong.ok()) {
    std::move(done)(wrong);
    return {};
  }
  const Ticket ticket =
      enlist([done = std::move(done)](absl::StatusOr<Index> ended) mutable { std::move(done)(ended.status()); });
  engine.post(TransferLeadership{ticket, target, later(now, timeout)});
  return ticket;
}

void MembershipCalls::abandon(Engine& engine, Ticket call) {
  const auto found = calls_.find(call);
  if (found == calls_.end()) return;
  Callback<Index> done = std::move(found->second);
  calls_.erase(found);
  engine.post(Forget{call});
  std::move(done)(make_error(Reason::CancelPending, "the caller stopped listening; it may still take effect"));
}

void MembershipCalls::after_turn(const EngineEffects& effects) {
  if (calls_.empty()) return;
  for (const Completion& completion : effects.completions) {
    const auto call = calls_.find(completion.ticket);
    if (call == calls_.end()) continue;
    Callback<Index> done = std::move(call->second);
    calls_.erase(call);
    std::move(done)(completion.status.ok() ? absl::StatusOr<Index>(completion.index) : completion.status);
  }
}

void MembershipCalls::stop(const absl::Status& why) {
  stopped_ = true;
  failure_ = why;
  const absl::Status ended = why.ok()
                                 ? make_error(Reason::Stopped, Outcome::Unknown, "the replica was closed before the call ended")
                                 : replica_failed(Outcome::Unknown, why);
  while (!calls_.empty()) {
    auto done = calls_.extract(calls_.begin());
    std::move(done.mapped())(ended);
  }
}

// A voter that stays is also in the outgoing half, and one that becomes a learner leaves it first. A member that is replaced
// under its own id is not the one that takes its place.
MemberList member_list(const raft::Status& core, ReplicaId self, LaggingTime now) {
  using Role = MemberInfo::Role;
  MemberList list{.index = core.configuration_index, .joint = !core.configuration.outgoing.empty()};
  const auto append = [&](const std::vector<raft::Member>& members, Role role) {
    for (const raft::Member& member : members) {
      const auto same = [&member](const MemberInfo& one) { return one.id == member.id.value() && one.store == member.store; };
      if (std::ranges::any_of(list.members, same)) continue;
      MemberInfo info{.id = member.id.value(), .address = member.address, .role = role, .store = member.store};
      for (const raft::PeerStatus& peer : core.peers) {
        if (peer.peer != member.id || peer.peer == self) continue;
        info.lag = core.last.index - std::min(peer.match, core.last.index);
        info.silence = std::max(now - peer.last_received, Duration::zero());
      }
      list.members.push_back(std::move(info));
    }
  };
  append(core.configuration.voters, Role::Voter);
  append(core.configuration.outgoing, Role::Leaving);
  append(core.configuration.learners, Role::Learner);
  std::stable_sort(list.members.begin(), list.members.end(), [](auto& a, auto& b) { return a.id < b.id; });
  return list;
}

}  // namespace coordkit

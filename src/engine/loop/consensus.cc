#include "engine/loop/consensus.h"

#include <algorithm>
#include <utility>

namespace coordkit::engine {

void Consensus::start(raft::Recovered recovered, LaggingTime now) {
  core_.emplace(options_, std::move(recovered), now);
  leadership_ = core_->leadership();
}

void Consensus::stop(EngineEffects& effects) {
  const raft::Leadership none{raft::Role::Follower, leadership_.term, ReplicaId()};
  if (leadership_ != none) effects.leadership = leadership_ = none;
  writes_.clear();
  core_.reset();
}

void Consensus::leadership_changed(const raft::Leadership& leadership) {
  leadership_ = leadership;
  forwarded_.clear();
}

void Consensus::tick(LaggingTime now) {
  if (core_->next_deadline() <= now) core_->step(raft::Tick{}, now);
}

void Consensus::applied(Index through) {
  core_->applied(through);
  forwarded_.applied(through);
}

raft::Effects& Consensus::drain() {
  core_->drain(drained_);
  return drained_;
}

namespace {

// Timers that fired, and the feature level, are the leader's to propose.
bool of_leader_only(const LogCommand& command) {
  return std::holds_alternative<FireTimers>(command) || std::holds_alternative<RaiseLevel>(command);
}

}  // namespace

void Consensus::propose_for(ReplicaId from, Forward& message, absl::FunctionRef<bool(const LogCommand&)> wanted,
                            LaggingTime now) {
  raft::Propose propose;
  bool answered = false;
  for (SharedBytes& command : message.commands) {
    const auto decoded = decode_command(command.view());
    if (!decoded.ok() || of_leader_only(*decoded)) continue;
    const auto* vote = std::get_if<DigestVote>(&*decoded);
    if (vote && vote->replica != from) continue;
    const auto* request = std::get_if<Request>(&*decoded);
    if (!wanted(*decoded)) continue;
    const Ticket ticket = next_ticket();
    if (request) forwarded_.proposed(ticket, request->id, from);
    answered |= request != nullptr;
    propose.proposals.push_back({ticket, raft::EntryKind::Command, std::move(command)});
  }
  if (propose.proposals.empty()) return;
  if (answered && from != options_.self) step(raft::SendCommit{from}, now);
  step(std::move(propose), now);
}

void Consensus::note_waiting(ReplicaId origin) {
  const ReplicaId peer = is_remote(origin) ? forwarded_.gateway_of(origin) : origin;
  if (!peer || peer == options_.self || std::ranges::find(waiting_, peer) != waiting_.end()) return;
  waiting_.push_back(peer);
}

bool Consensus::send_commit_to_waiting(LaggingTime now) {
  const bool any = core_ && leads() && !waiting_.empty();
  if (any) {
    for (const ReplicaId peer : waiting_) step(raft::SendCommit{peer}, now);
  }
  waiting_.clear();
  return any;
}

void Consensus::hand_over(SharedBytes command, Turn& turn) {
  if (!leads()) {
    turn.effects.sends.push_back({leader(), Forward{{std::move(command)}}});
    return;
  }
  raft::Propose propose;
  propose.proposals.push_back({Ticket(), raft::EntryKind::Command, std::move(command)});
  step(std::move(propose), turn.now.lagging);
}

}  // namespace coordkit::engine

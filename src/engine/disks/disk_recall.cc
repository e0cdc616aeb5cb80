#include "engine/disks/disk_recall.h"

#include <algorithm>
#include <utility>

namespace coordkit::engine {
namespace {

constexpr size_t kMarksKept = 64;

}  // namespace

void DiskRecall::recover(RecoveredLog& log, Position applied) {
  lost_ = LostEntries::cut(log, applied);
  marks_ = PeerMarks(std::move(log.peers));
  if (lost_.any()) marks_.lacks(self_.store, lost_.term(), lost_.floor());
}

// ---- the own disk

void DiskRecall::check(Turn& turn) {
  const bool leaderless = !turn.consensus.leader() && !turn.consensus.core()->removed();
  for (const ReplicaId peer : check_.due(turn.now.lagging, leaderless)) turn.effects.sends.push_back({peer, check_.question()});
  if (!check_.waiting()) return;
  const raft::Core& core = *turn.consensus.core();
  if (!check_.enough(core.configuration(), core.configuration_position()) || !claim(core).empty()) return;
  check_.passed();
  turn.consensus.step(raft::RollbackCheckPassed{}, turn.now.lagging);
}

std::optional<std::string> DiskRecall::receive(const Hello& from, const RecallReply& reply, const raft::Core& core) {
  const raft::Status status = core.status();
  const auto term_at = [&core](Index index) { return core.term_at(index); };
  const RollbackCheck::Holds holds{status.hard_state, lost_.end_for(status.hard_state.term, status.last), term_at};
  std::optional<std::string> lacks = check_.answered(from.from, from.store, reply, holds);
  return waiting() ? std::nullopt : lacks;
}

// The log again reaches as far as it did before entries of it were lost.
void DiskRecall::mend_log(Turn& turn) {
  if (lost_.covered()) turn.effects.compact = *lost_.covered();
  lost_.compacted();
  if (!lost_.any() || turn.consensus.core()->floor().index) return;
  lost_.replaced();
  marks_.whole(self_.store);
}

// ---- what peers could send only once it was durable

// The answer is what was known before this start.
void DiskRecall::receive(ReplicaId from, const RecallRequest& request, const Hello* hello, const Hello* member,
                         const raft::Core& core, EngineEffects& effects) {
  if (hello == nullptr || hello->store != request.store) return;
  const std::optional<PeerMark> known = marks_.of(request.store);
  effects.sends.push_back({from, RecallReply{request, known.value_or(PeerMark{}), core.settled_members()}});
  if (member) marks_.started(request.store, request.boot, request.start);
}

void DiskRecall::turn_begins(const raft::Core* core) {
  const bool campaigns = core && core->leadership().role == raft::Role::Candidate;
  campaign_ = campaigns ? core->leadership().term : Term();
}

// A candidate has voted for itself; a leader's own disk counts for what it commits.
DiskRecall::Claim DiskRecall::claim_of(const raft::Message& message) {
  using What = Claim::What;
  if (const auto* request = std::get_if<raft::VoteRequest>(&message)) {
    return {request->kind == raft::VoteKind::Real ? What::Campaign : What::Nothing, request->term, {}};
  }
  if (const auto* reply = std::get_if<raft::VoteReply>(&message)) {
    const bool voted = reply->kind == raft::VoteKind::Real && reply->granted == raft::Answer::Yes;
    return {voted ? What::Vote : What::Nothing, reply->term, {}};
  }
  if (const auto* heartbeat = std::get_if<raft::Heartbeat>(&message)) {
    return {What::Durable, heartbeat->term, heartbeat->durable};
  }
  const bool answers =
      std::holds_alternative<raft::AppendReply>(message) || std::holds_alternative<raft::HeartbeatReply>(message);
  return {answers ? What::Acknowledgement : What::Nothing, {}, {}};
}

// Only what the core relies on, confirmed by the core: the vote it asked for, the campaign it voted for, the stream that an
// acknowledgement belongs to, the leader it follows. So nothing late is attributed to another disk.
void DiskRecall::note(ReplicaId from, const Hello* member, const Claim& claim, const raft::Core& core) {
  using What = Claim::What;
  if (claim.what == What::Nothing || member == nullptr) return;
  const StoreId store = member->store;
  const raft::Leadership& now = core.leadership();
  switch (claim.what) {
    case What::Campaign: {
      const raft::HardState hard_state = core.hard_state();
      if (hard_state == raft::HardState{claim.term, from}) marks_.voted(store, claim.term, from);
      return;
    }
    case What::Vote:
      if (claim.term == campaign_) marks_.voted(store, claim.term, self_.replica);
      return;
    case What::Acknowledgement:
      if (const Index match = core.match(from)) {
        marks_.held(store, now.term, {match, core.term_at(match).value_or(Term())});
      }
      return;
    case What::Durable:
      if (now.leader == from && now.term == claim.term) marks_.held(store, claim.term, claim.durable);
      return;
    case What::Nothing: return;
  }
}

void DiskRecall::forget_nonmembers(const raft::Configuration& in_force, const raft::Configuration& applied) {
  if (marks_.size() <= kMarksKept) return;
  marks_.keep([&](StoreId store) {
    if (store == self_.store) return true;
    for (const raft::Configuration* configuration : {&in_force, &applied}) {
      for (const auto* members : {&configuration->voters, &configuration->outgoing, &configuration->learners}) {
        const auto named = [store](const raft::Member& member) { return member.store == store; };
        if (std::any_of(members->begin(), members->end(), named)) return true;
      }
    }
    return false;
  });
}

}  // namespace coordkit::engine

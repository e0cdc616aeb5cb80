// What replicas remember of each other's disks, and what this one is told of its own (attestation.h).
#include <algorithm>

#include "base/mutant.h"
#include "engine/engine_impl.h"
#include "raft/membership.h"
#include "raft/quorum.h"

namespace coordkit::engine {
namespace {

constexpr size_t kMarksKept = 64;

}  // namespace

void EngineImpl::attest(Now now) {
  for (const ReplicaId peer : attestation_.due(now.lagging)) effects_->sends.push_back({peer, attestation_.question()});
  if (!attestation_.waiting()) return;
  const auto attests = [this](ReplicaId id) { return id == self() || attestation_.answered(id); };
  if (!raft::quorum_agrees(core_->configuration(), attests) && !mutant(Mutant::AttestedUnasked)) return;
  attestation_.passed();
  core_->step(raft::Attested{}, now.lagging);
}

// The answer is what was known before this start.
void EngineImpl::receive(ReplicaId from, RecallRequest& message, Now) {
  const Hello* hello = members_.hello_of(from);
  if (hello == nullptr || hello->store != message.store) return;
  const std::optional<PeerMark> known = mutant(Mutant::RecallsNothing) ? std::nullopt : marks_.of(message.store);
  effects_->sends.push_back({from, RecallReply{message, known.value_or(PeerMark{})}});
  if (members_.standing(from) == Standing::Member) marks_.started(message.store, message.boot, message.start);
}

void EngineImpl::receive(ReplicaId from, RecallReply& message, Now) {
  if (members_.standing(from) != Standing::Member) return;
  const raft::Status status = core_->status();
  const auto term_at = [this](Index index) { return core_->term_at(index); };
  const Attestation::Holds holds{status.hard_state, lost_.end_for(status.hard_state.term, status.last), term_at};
  const auto set_back = attestation_.answered(from, message, holds);
  if (set_back) quarantine(*set_back);
}

// ---- what peers could say only once it was durable

// A candidate has voted for itself; a leader's own disk counts for what it commits.
EngineImpl::Said EngineImpl::said_by(const raft::Message& message) {
  using What = Said::What;
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

// Only what the core relies on, and by its word: the vote it asked for, the campaign it voted for, the stream that an
// acknowledgement belongs to, the leader it follows. So nothing late is taken for another disk's.
void EngineImpl::note(ReplicaId from, const Said& said) {
  using What = Said::What;
  if (said.what == What::Nothing || members_.standing(from) != Standing::Member) return;
  const StoreId store = members_.hello_of(from)->store;
  const raft::Leadership& now = core_->leadership();
  switch (said.what) {
    case What::Campaign: {
      const raft::HardState hard_state = core_->hard_state();
      if (hard_state == raft::HardState{said.term, from}) marks_.voted(store, said.term, from);
      return;
    }
    case What::Vote:
      if (said.term == campaign_) marks_.voted(store, said.term, self());
      return;
    case What::Acknowledgement:
      if (const Index match = core_->match(from)) {
        marks_.held(store, now.term, {match, core_->term_at(match).value_or(Term())});
      }
      return;
    case What::Durable:
      if (now.leader == from && now.term == said.term) marks_.held(store, said.term, said.durable);
      return;
    case What::Nothing: return;
  }
}

// The log reaches as far again as it did before entries of it were lost.
void EngineImpl::mend_log() {
  if (lost_.covered()) effects_->compact = *lost_.covered();
  lost_.compacted();
  if (!lost_.any() || core_->floor().index) return;
  lost_.replaced();
  marks_.whole(origin_.store);
}

void EngineImpl::forget_strangers() {
  if (marks_.size() <= kMarksKept) return;
  marks_.keep([this](StoreId store) {
    if (store == origin_.store) return true;
    for (const raft::Configuration* configuration : {&core_->configuration(), &router_.configuration()}) {
      for (const auto* members : {&configuration->voters, &configuration->outgoing, &configuration->learners}) {
        const auto named = [store](const raft::Member& member) { return member.store == store; };
        if (std::any_of(members->begin(), members->end(), named)) return true;
      }
    }
    return false;
  });
}

}  // namespace coordkit::engine

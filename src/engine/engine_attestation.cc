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
  if (members_.standing(from) == Members::Standing::Member) marks_.started(message.store, message.boot, message.start);
}

void EngineImpl::receive(ReplicaId from, RecallReply& message, Now) {
  if (members_.standing(from) != Members::Standing::Member) return;
  const raft::Status status = core_->status();
  const auto set_back = attestation_.answered(from, message, status.hard_state.term, status.last.index);
  if (set_back) quarantine(*set_back);
}

// ---- what peers could say only once it was durable

// A candidate has voted for itself.
void EngineImpl::note_vote(ReplicaId from, const raft::VoteRequest& request) {
  if (request.kind == raft::VoteKind::Real) note_acted(from, request.term, Index());
}

void EngineImpl::note_vote(ReplicaId from, const raft::VoteReply& reply) {
  const bool voted = reply.kind == raft::VoteKind::Real && reply.granted == raft::Answer::Yes;
  if (voted) note_acted(from, reply.term, Index());
}

// By the core's word: it knows which stream an acknowledgement belongs to, so that none is taken for another disk's.
void EngineImpl::note_acknowledgement(ReplicaId from) {
  const Index match = core_->match(from);
  if (match) note_acted(from, core_->leadership().term, match);
}

void EngineImpl::note_acted(ReplicaId from, Term term, Index match) {
  if (members_.standing(from) == Members::Standing::Member) marks_.acted(members_.hello_of(from)->store, term, match);
}

void EngineImpl::forget_strangers() {
  if (marks_.size() <= kMarksKept) return;
  marks_.keep([this](StoreId store) {
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

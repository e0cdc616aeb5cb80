#include "engine/apply/applied_state.h"

namespace coordkit::engine {

RouterOutput* AppliedState::apply(Consensus& consensus, size_t bytes_max) {
  output_.clear();
  applied_bytes_ = 0;
  const std::span<const raft::Entry> entries = consensus.committed(index().next(), bytes_max);
  if (entries.empty()) return nullptr;
  for (const raft::Entry& entry : entries) applied_bytes_ += entry.bytes();
  router_.apply(entries, output_);
  consensus.applied(index());
  more_ = index() < consensus.core()->commit();
  return &output_;
}

// A follower's acknowledgement waits for its disk, and the leader's callers wait with it. The follower can apply committed
// entries behind that write if no call of its own waits for them; but not behind one write after the other.
bool AppliedState::apply_can_wait(bool awaited, const Turn& turn) {
  const bool any = index() < turn.consensus.core()->commit();
  return later_ = !later_ && any && !awaited && !turn.effects.writes.empty();
}

void AppliedState::replace(RestoredState& restored) {
  std::swap(router_, restored.parts().router);
  router_.observe_as(restored.parts().router);
  router_.note_digests_every(options_.digest_entries);
  router_.speak(options_.feature_level);
}

void AppliedState::compare_digests(const Turn& turn) {
  for (const DigestNote& note : output_.digests) {
    std::optional<Divergence> found = divergence_.note(note, router_.configuration(), turn.consensus.leader());
    if (!found) continue;
    turn.effects.divergence = std::move(found);
    if (turn.effects.divergence->verdict == Divergence::Verdict::Self) return;
  }
}

void AppliedState::vote_digest(Turn& turn) {
  if (!turn.consensus.knows_leader()) return;
  const std::optional<DigestVote> vote = divergence_.due(turn.now.lagging);
  if (vote) turn.consensus.hand_over(SharedBytes(encode(*vote)), turn);
}

}  // namespace coordkit::engine

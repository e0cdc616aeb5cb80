// Comparing states with the other replicas, and stepping aside when this one is wrong (divergence.h).
#include <utility>

#include "base/mutant.h"
#include "engine/engine_impl.h"

namespace coordkit::engine {

void EngineImpl::vote_digest(Now now) {
  if (!knows_leader()) return;
  const std::optional<DigestVote> vote = divergence_.due(now.lagging);
  if (!vote) return;
  SharedBytes payload(encode(*vote));
  if (!leads()) {
    effects_->sends.push_back({leadership_.leader, Forward{{std::move(payload)}}});
    return;
  }
  raft::Propose propose;
  propose.proposals.push_back({Ticket(), raft::EntryKind::Command, std::move(payload)});
  core_->step(std::move(propose), now.lagging);
}

// Before any answer of these entries leaves: a state that is not what the cluster agrees on has none to give.
bool EngineImpl::compare_digests() {
  for (const DigestNote& note : router_output_.digests) {
    std::optional<Divergence> found = divergence_.note(note, router_.configuration(), leadership_.leader);
    if (!found || mutant(Mutant::DigestsIgnored)) continue;
    const bool self = found->verdict == Divergence::Verdict::Self;
    effects_->divergence = std::move(found);
    if (self) quarantine(effects_->divergence->sentence);
    if (self) return false;
  }
  return true;
}

// Up, silent, not voting: its log may be sound, but it must not be believed any more.
void EngineImpl::quarantine(std::string why) {
  quarantined_ = true;
  reason_ = std::move(why);
  fall_silent(Reason::NotReady);
  sender_.stop(effects_->views);
  for (const ReplicaId peer : attendance_.present()) say_stepped_aside(peer);
}

}  // namespace coordkit::engine

#include "engine/members/level_raise.h"

#include <algorithm>

namespace coordkit::engine {

// An absent member may come back with an older build: nothing is raised without it. One that is downgraded
// meanwhile is refused by what its log then contains.
void LevelRaise::propose(const Router& router, const PeerSet& peers, Turn& turn) {
  if (turn.now.lagging < next_deadline(turn.consensus, router)) return;
  look_again_ = turn.now.lagging + options_.raft.election_timeout;
  uint64_t spoken = options_.feature_level;
  const raft::Configuration& configuration = turn.consensus.core()->configuration();
  for (const auto* members : {&configuration.voters, &configuration.outgoing, &configuration.learners}) {
    for (const raft::Member& member : *members) {
      if (member.id == options_.raft.self) continue;
      const Hello* hello = peers.member(member.id);
      spoken = std::min(spoken, hello ? hello->feature_level : 0);
    }
  }
  if (spoken > router.feature_level()) turn.consensus.hand_over(SharedBytes(encode(RaiseLevel{spoken})), turn);
}

LaggingTime LevelRaise::next_deadline(const Consensus& consensus, const Router& router) const {
  return consensus.leads() && router.feature_level() < options_.feature_level ? look_again_ : LaggingTime::max();
}

}  // namespace coordkit::engine

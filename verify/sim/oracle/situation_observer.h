// Recognizes situations (coordkit/sim/situations.h) that show only in the cluster as a whole: what was under way when a
// replica was lost, a link was cut or a leader changed. Nothing here changes the run.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "coordkit/sim/situations.h"
#include "sim/nodes/node.h"
#include "sim/oracle/consensus_observer.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class SituationObserver {
 public:
  // `counts` is shared with everybody who reaches a situation of their own.
  SituationObserver(const World& world, Duration election_timeout, const std::vector<std::unique_ptr<Node>>& nodes,
                    const ConsensusObserver& consensus, SituationCounts& counts)
      : world_(world), election_timeout_(election_timeout), nodes_(nodes), consensus_(consensus), counts_(counts) {}

  void lost(uint32_t node);  // it crashes or stands still
  void links_cut(uint64_t links);
  void links_mended(uint64_t links) { cuts_ -= links; }
  void opened(uint32_t node, const absl::Status& opened);  // its stores, or not
  void halted(uint32_t node);
  void sends(uint32_t node, const Message& message);
  void installed(uint32_t node);  // another's state
  void turned(uint32_t node);
  void reach(Situation situation) { ++counts_[static_cast<size_t>(situation)]; }

 private:
  bool joint() const;
  bool takes_state(uint32_t node) const;
  void look_at_takers(uint32_t node);
  void look_for_promotions();
  void look_at_leader(uint32_t node);

  const World& world_;
  const Duration election_timeout_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  const ConsensusObserver& consensus_;
  SituationCounts& counts_;
  uint64_t cuts_ = 0;        // links cut now
  TrueTime promoted_at_{};   // when a learner last became a voter
  uint64_t promotions_ = 0;  // seen so far
  uint64_t elections_seen_ = 0;
  std::map<uint32_t, TrueTime> taking_state_;  // when a node last asked for rows
  Term transfer_term_{};                       // the term that a TimeoutNow asked for
  Term joint_in_{}, removed_in_{};             // already noted in this term
};

}  // namespace coordkit::sim

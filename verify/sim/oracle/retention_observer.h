// Watches how leaders compact their logs: entries that a member's disk lacks stay as long as that member answers. Otherwise the
// leader would have to send it the whole state (docs/decisions/0023, INV_S09).
//
// It knows the disks, and sees in the messages which peers answer. From the leader it takes only its own belief: which peers it
// has heard lately, and which of them wait for a state. Replicas whose disk has lost entries are left out for the whole run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "coordkit/sim/sim_options.h"
#include "sim/nodes/node.h"
#include "sim/oracle/membership_observer.h"
#include "sim/plan.h"

namespace coordkit::sim {

class RetentionObserver {
 public:
  RetentionObserver(const Plan& plan, const SimOptions& options, const std::vector<std::unique_ptr<Node>>& nodes,
                    const MembershipObserver& members)
      : plan_(plan), log_is_bounded_(options.sizes.log_retained_bytes.has_value()), nodes_(nodes), members_(members) {}

  void started(uint32_t node);
  void handles(uint32_t node, const EngineInput& input);
  void sends(uint32_t node, ReplicaId to, const Message& message);
  void turned(uint32_t node, const EngineEffects& effects);

 private:
  struct Stream {
    Term term;
    uint64_t number = 0;
    StoreId store;  // of the peer when it began; another disk has answered nothing
    bool answered = false;
    bool answered_in_this_turn = false;
  };
  void answered(uint32_t node, ReplicaId from, Term term, uint64_t stream);
  void check(uint32_t node, Index through) const;
  bool served_from_log(uint32_t node, const raft::PeerStatus& peer, Term term) const;
  std::optional<Index> common(uint32_t node, uint32_t peer) const;  // none: that peer's log does not reach the leader's

  const Plan& plan_;
  const bool log_is_bounded_;  // by the author of a test: states are to be sent
  const std::vector<std::unique_ptr<Node>>& nodes_;
  const MembershipObserver& members_;
  std::map<std::pair<uint32_t, ReplicaId>, Stream> streams_;  // the newest, to that peer
  std::set<uint32_t> damaged_;
};

}  // namespace coordkit::sim

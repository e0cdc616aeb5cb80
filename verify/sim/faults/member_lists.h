// The lists of members that an operator has written down for the replicas. They are alike, except where a plan has wrong ones
// at the first start (first_start.h), and a process goes by the list of its start. With the address of another, a replica does
// not reach the member: a blank one is written to at its address only (FLT_N16).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordkit/engine/engine.h"
#include "coordkit/ports/transport.h"
#include "sim/plan.h"

namespace coordkit::sim {

std::string address_of(uint32_t node);
// The founders, and the node itself. To set up a lost disk `again`, all are listed: the founders alone, all of them blank by
// now, would found another cluster.
std::vector<Peer> right_list(const Plan& plan, uint32_t node, bool again = false);

class MemberLists {
 public:
  explicit MemberLists(const Plan& plan) : plan_(plan), nodes_(plan.nodes) {}

  bool differ() const { return !plan_.first_start.wrong.empty(); }  // at any time
  void spoil(uint32_t node) { nodes_[node].wrong = true; }
  void correct(uint32_t node);
  bool right(uint32_t node) const { return !nodes_[node].wrong; }

  // A process starts now: its list.
  std::vector<Peer> start(uint32_t node, bool again);
  std::vector<ListedMember> said_by(uint32_t node) const;  // in hellos of its process; empty: its build says none
  bool ever_listed(uint32_t node, const std::vector<ReplicaId>& ids) const;  // these alone, in ascending order

  void connects_to(uint32_t node, const std::vector<Peer>& peers);  // from now on
  bool has_address(uint32_t node, ReplicaId peer) const;

 private:
  struct Listed {
    bool wrong = false;
    std::vector<ListedMember> said;
    std::vector<std::vector<ReplicaId>> ever;
    std::vector<ReplicaId> misled;  // peers to which it connects at another's address
  };
  const Plan& plan_;
  std::vector<Listed> nodes_;
  bool corrected_ = false;  // one of them
};

}  // namespace coordkit::sim

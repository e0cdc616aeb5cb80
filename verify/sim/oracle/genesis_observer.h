// The geneses of a run in which lists of members differ (docs/safety.md, the birth of a cluster), from what replicas write.
//
// INV_R04: a genesis names replicas that were all started with its members, if they say their lists. It gives way only on a
// disk that has not voted by it, and if the next one has other members, then nobody votes by it, ever. Those that lead have
// one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "coordkit/raft/entry.h"
#include "coordkit/sim/situations.h"
#include "sim/faults/member_lists.h"
#include "sim/nodes/node.h"
#include "sim/plan.h"

namespace coordkit::sim {

class GenesisObserver {
 public:
  GenesisObserver(const Plan& plan, const std::vector<std::unique_ptr<Node>>& nodes, const MemberLists& lists,
                  SituationCounts& situations)
      : plan_(plan), nodes_(nodes), lists_(lists), situations_(situations), has_(plan.nodes) {}

  void started(uint32_t node);
  void writes(uint32_t node, const LogWrite& write);  // before the store has it
  void synced(uint32_t node);
  void turned(uint32_t node);

  // A replica has led.
  bool led() const { return led_ != 0; }
  bool led_by_wrong_list() const;
  // It runs by another genesis than those that have led.
  bool left_behind(uint32_t node) const;

 private:
  struct Genesis {
    std::vector<raft::Member> voters;
    bool voted = false;     // somebody has voted by it
    bool given_up = false;  // another one took its place, with other members
  };
  void stores(uint32_t node, const raft::Entry& entry);
  void check_listed(uint32_t node, const Genesis& genesis) const;
  void replaces(uint32_t node, Genesis& former, const Genesis& next);
  void votes(uint32_t node) const;

  const Plan& plan_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  const MemberLists& lists_;
  SituationCounts& situations_;
  std::map<uint64_t, Genesis> geneses_;  // by the chain of their entry
  std::vector<uint64_t> has_;            // per node; zero: none
  uint64_t led_ = 0;                     // zero: nobody has led
};

}  // namespace coordkit::sim

// Members come, go, lose their disks, are rolled back to old copies of their own or another's disk, and transfer leadership,
// in the middle of everything else.
//
// Requests are posted to any replica, as an operator would. A machine whose member was removed, or that lost its disk, is made
// blank now and then and may be brought back. At most one voter at a time has lost its disk: what a majority has
// acknowledged survives by definition only then. Once a run is calm, every member is brought back, one request after the other.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/faults/absence.h"
#include "sim/nodes/node.h"
#include "sim/oracle/consensus_observer.h"
#include "sim/oracle/promises.h"
#include "sim/plan.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Churn {
 public:
  Churn(World& world, const Plan& plan, std::vector<std::unique_ptr<Node>>& nodes, ConsensusObserver& consensus,
        Promises& promises, SituationCounts& situations, Random random)
      : world_(world),
        plan_(plan),
        nodes_(nodes),
        consensus_(consensus),
        promises_(promises),
        situations_(situations),
        random_(random),
        absence_(world, nodes, consensus.members(), situations, random_.fork()) {}

  void begin();  // schedules the first event, if the plan has churn
  void event();
  void event_at(uint32_t node);  // the disk of this one is rolled back
  void synced(uint32_t node);    // its log was
  void come_back() { absence_.end_for_good(); }
  // The leader is asked to hand over to this one, which a fault has just struck; nothing if it leads itself.
  void hand_over_to(uint32_t dying);
  bool away(uint32_t node) const { return absence_.is_of(node); }
  // From here on only requests that bring every member back.
  void calm_down();
  bool everybody_votes() const;
  bool may_lose_disk(uint32_t node) const;
  bool mixed_up(uint32_t node) const;  // it has a copy of another node's disk

  void answered(uint32_t node, const EngineEffects& effects);
  void process_died(uint32_t node);
  // Asks this replica now, unless a disk is missing.
  void ask_for(uint32_t node, raft::MemberChange change);
  raft::Member new_member(uint32_t node) const;

 private:
  struct Request {
    uint32_t node = 0;  // where it was posted
    std::vector<raft::MemberChange> changes;
  };
  void schedule(Duration longest);
  void strike();
  void strike_disks();
  void change();
  void transfer();
  void ask_to_hand_over(uint32_t asked, ReplicaId target);
  void exchange_others();
  void lose_a_disk();
  void lose_disk(uint32_t node);
  struct Copy {
    StoreId store;
    raft::Configuration members;  // in force there
    NodeStores::Copy image;
    TrueTime at{};
  };
  struct Durable {
    StoreId store;
    raft::HardState hard_state;
    Position last;
  };
  void copy_disks();
  bool copy_disk(uint32_t node);
  void set_back_a_disk();
  void set_back(uint32_t node, const Copy& copy);
  void mix_up_disks();
  void put_copy(uint32_t node, const Copy& copy);
  const Copy* copy_of(uint32_t node);  // one of the kept copies; null: none
  void exchange_set_back();
  bool stands_aside(uint32_t node) const;
  void bring_back();
  void post(uint32_t node, std::vector<raft::MemberChange> changes, Duration patience);
  raft::MemberChange draw_change();
  std::optional<uint32_t> anybody();
  void check_effect(const Request& request, Index index) const;

  World& world_;
  const Plan& plan_;
  std::vector<std::unique_ptr<Node>>& nodes_;
  ConsensusObserver& consensus_;
  Promises& promises_;
  SituationCounts& situations_;
  Random random_;
  Absence absence_;
  uint64_t last_ticket_ = uint64_t{1} << 60;  // far from the client's
  std::map<Ticket, Request> requests_;
  std::vector<std::vector<Copy>> copies_;  // per node
  std::map<uint32_t, Durable> durable_;    // as last seen
  std::map<uint32_t, Copy> set_back_to_;   // soon
  std::map<uint32_t, StoreId> mixed_up_;   // the owner of the disk put there last
  bool calm_ = false;
};

}  // namespace coordkit::sim

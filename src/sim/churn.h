// Members come, go, lose their disks, are set back to old copies of them or of somebody else's and hand leadership to each
// other, in the middle of everything else.
//
// Wishes are posted to any replica, as an operator would. A machine whose member was removed, or that lost its disk, is made
// blank now and then and may be brought back. At most one voter at a time has lost its disk: what a majority has
// acknowledged survives by definition only then. Once a run is calm, everybody is brought back, one wish after the other.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/consensus_observer.h"
#include "sim/node.h"
#include "sim/plan.h"
#include "sim/world.h"

namespace coordkit::sim {

class Churn {
 public:
  Churn(World& world, const Plan& plan, std::vector<std::unique_ptr<Node>>& nodes, ConsensusObserver& consensus,
        MarkCounts& marks, Random random)
      : world_(world), plan_(plan), nodes_(nodes), consensus_(consensus), marks_(marks), random_(random) {}

  void begin();  // schedules the first event, if the plan has churn
  void event();
  // From here on only what brings everybody back.
  void calm_down();
  bool everybody_votes() const;
  bool may_lose_disk(uint32_t node) const;

  void answered(uint32_t node, const EngineEffects& effects);
  void process_died(uint32_t node);

 private:
  struct Wish {
    uint32_t node = 0;  // whom it was posted to
    std::vector<raft::MemberChange> changes;
  };
  void schedule(Duration longest);
  void strike();
  void change();
  void transfer();
  void lose_a_disk();
  void lose_disk(uint32_t node);
  struct Copy {
    StoreId store;
    raft::Configuration members;  // in force there
    Node::DiskCopy image;
  };
  void copy_disks();
  void set_back_a_disk();
  void mix_up_disks();
  void put_copy(uint32_t node, const Copy& copy);
  bool mixed_up(uint32_t node) const;
  bool surely_noticed(uint32_t node, const Copy& copy) const;
  void exchange_set_back();
  void bring_back();
  void post(uint32_t node, std::vector<raft::MemberChange> changes, Duration patience);
  raft::MemberChange wish();
  raft::Member newcomer(uint32_t node) const;
  std::optional<uint32_t> anybody();
  void check_effect(const Wish& wish, Index index) const;

  World& world_;
  const Plan& plan_;
  std::vector<std::unique_ptr<Node>>& nodes_;
  ConsensusObserver& consensus_;
  MarkCounts& marks_;
  Random random_;
  uint64_t last_ticket_ = uint64_t{1} << 60;  // far from the client's
  std::map<Ticket, Wish> wishes_;
  std::vector<Copy> copies_;              // per node, the newest
  std::map<uint32_t, StoreId> mixed_up_;  // whose disk was put there last
  bool calm_ = false;
};

}  // namespace coordkit::sim

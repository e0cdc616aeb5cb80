// The operator at the first start of a cluster: gives some replicas wrong lists of members, corrects them later, and restarts
// these replicas, at once or one after the other, with crashes between (FLT_A19). When the faults are over, all lists are
// right.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "base/random.h"
#include "base/sums.h"
#include "sim/faults/member_lists.h"
#include "sim/nodes/node.h"
#include "sim/nodes/processes.h"
#include "sim/oracle/genesis_observer.h"
#include "sim/oracle/situation_observer.h"
#include "sim/plan.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class FirstStart {
 public:
  FirstStart(World& world, const Plan& plan, const std::vector<std::unique_ptr<Node>>& nodes, MemberLists& lists,
             const GenesisObserver& geneses, Processes& processes, SituationObserver& situations)
      : world_(world),
        plan_(plan),
        nodes_(nodes),
        lists_(lists),
        geneses_(geneses),
        processes_(processes),
        situations_(situations),
        random_(Random(hash_mix(world.seed(), uint64_t{0x6c697374}))) {}

  void begin();  // before the first process starts
  void event(const Event& event);
  void process_started(uint32_t node);
  // Everybody gets the right list now; those that had another are down.
  void finish();

 private:
  struct Act {
    enum class Kind : uint8_t { Spoil, Correct, Restart, Look } kind = Kind::Look;
    uint32_t node = 0;
    Duration down{};
  };
  void schedule(Duration at, Act act);
  void restart(uint32_t node, Duration down);
  void correct(uint32_t node);
  void look();
  void reach(Situation situation) { situations_.reach(situation); }

  World& world_;
  const Plan& plan_;
  const std::vector<std::unique_ptr<Node>>& nodes_;
  MemberLists& lists_;
  const GenesisObserver& geneses_;
  Processes& processes_;
  SituationObserver& situations_;
  Random random_;
  std::vector<Act> acts_;
  std::set<uint32_t> corrected_;
  std::set<uint32_t> once_more_;  // were left behind with their genesis, and started again
  bool over_ = false;
};

}  // namespace coordkit::sim

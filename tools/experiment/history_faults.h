// The faults of the history experiment's members: each is drawn, begun, left for a while and ended.
//
// Threads: one owner.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "tools/experiment/dice.h"
#include "tools/experiment/history_group.h"
#include "tools/experiment/seen.h"

namespace coordkit::experiment {

struct FaultTally {
  uint64_t kills = 0, stops = 0, closes = 0, hand_overs = 0, remotes = 0, set_backs = 0, copies = 0;
};

// Within the fault model: nothing may come of them.
class OrdinaryFaults {
 public:
  OrdinaryFaults(HistoryGroup& group, Dice& dice, FaultTally& tally, const HistoryOptions& options)
      : group_(group), dice_(dice), tally_(tally), options_(options) {}
  // Returns when it is over, but for what members have to do then.
  Disturbance disturb();

 private:
  enum class Way : uint8_t { Kill, Stop, Close };

  std::vector<int> draw_victims();
  Way draw_way();
  std::chrono::milliseconds draw_length();
  void end(Way way, int id);
  void resume(Way way, int id);
  Disturbance interrupt();
  Disturbance hand_over();
  Disturbance interrupt_remote();

  HistoryGroup& group_;
  Dice& dice_;
  FaultTally& tally_;
  const HistoryOptions& options_;
};

// Beyond it (beyond.h). Each begins in a group that answers and has copies of two directories at least, and is over when the
// network is whole and every process runs that will.
class BeyondFaults {
 public:
  BeyondFaults(HistoryGroup& group, Dice& dice, FaultTally& tally) : group_(group), dice_(dice), tally_(tally) {}
  Disturbance disturb() { return dice_.below(2) == 0 ? set_back() : copy_beside(); }

 private:
  std::vector<int> shuffled();
  void stop(int id);
  Disturbance set_back();
  Disturbance copy_beside();

  HistoryGroup& group_;
  Dice& dice_;
  FaultTally& tally_;
};

}  // namespace coordkit::experiment

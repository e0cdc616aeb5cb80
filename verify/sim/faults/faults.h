// Faults that strike while the run is hostile, drawn or by a script. Each active one is remembered with what it did, so that
// undoing it never touches another one.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coordkit/sim/sim_options.h"
#include "sim/faults/disk_faults.h"
#include "sim/faults/fault_schedule.h"
#include "sim/faults/first_start.h"
#include "sim/faults/link_faults.h"
#include "sim/faults/overtaking.h"
#include "sim/nodes/node.h"
#include "sim/nodes/processes.h"
#include "sim/nodes/scrubs.h"
#include "sim/oracle/consensus_observer.h"
#include "sim/oracle/situation_observer.h"
#include "sim/plan.h"
#include "sim/world/connections.h"
#include "sim/world/world.h"

namespace coordkit::sim {

// The targets of faults, and those that know about them.
struct FaultTargets {
  World& world;
  const Plan& plan;
  const std::vector<std::unique_ptr<Node>>& nodes;
  Network& network;
  Connections& connections;
  Processes& processes;
  Scrubs& scrubs;
  const ConsensusObserver& consensus;
  Churn& churn;
  SituationObserver& situations;
  MemberLists& lists;
  const GenesisObserver& geneses;
};

class Faults {
 public:
  Faults(const FaultTargets& targets, const Reduction& reduction, Random& random)
      : targets_(targets),
        world_(targets.world),
        striking_(random.fork()),
        schedule_(targets.world, targets.plan, reduction, random),
        links_(targets.world, targets.plan, targets.network, targets.situations),
        disks_(targets.world, targets.plan, targets.nodes, targets.churn, targets.situations),
        overtaking_(targets.world, targets.plan, targets.nodes, targets.consensus, targets.churn,
                    Random(hash_mix(targets.world.seed(), uint64_t{0x6f76657274616b65}))),
        first_start_(targets.world, targets.plan, targets.nodes, targets.lists, targets.geneses, targets.processes,
                     targets.situations) {}

  void begin() { schedule_.begin(); }
  void begin_event(const Event& event);
  void end_event(const Event& event);
  void process_stopped(uint32_t node);
  void overtaking_event(const Event& event) {
    if (hostile_) overtaking_.event(event);
  }
  void turned(uint32_t node, const EngineEffects& effects) {
    if (hostile_) overtaking_.turned(node, effects);
  }
  FirstStart& first_start() { return first_start_; }
  // All that are active are undone, and none strikes any more.
  void end_all();
  bool hostile() const { return hostile_; }
  const FaultSchedule& schedule() const { return schedule_; }

  // For a script.
  CrashKind any_crash() { return striking_.chance(0.5) ? CrashKind::Process : CrashKind::Power; }
  size_t cut(uint32_t from, uint32_t to);
  bool active(size_t number) const { return active_[number].on; }
  void undo(size_t number) { undo(active_[number]); }

 private:
  // Everything that undoing an active fault needs.
  struct ActiveFault {
    FaultKind kind = FaultKind::Crash;
    Links links;
    uint32_t node = 0;
    uint64_t recorded = ~uint64_t{0};  // by the recorder, if there is one
    Duration period{};                 // Flap; a waiting one: its length
    size_t message_kind = 0;           // HeldKind
    bool waits = false;                // not begun yet
    FileFaults files;                  // of a disk
    TrueTime until{};
    bool on = true;
  };

  void strike(FaultKind kind, Duration length);
  void strike_links(ActiveFault fault, Duration length);
  void strike_process(const ActiveFault& fault, Duration length);
  void strike_disk(ActiveFault fault, Duration length);
  void rot_everywhere();
  void record(ActiveFault& fault, Duration length);  // counts it, and marks it on the timeline
  void remember(ActiveFault fault, Duration length);
  void remember_later(ActiveFault fault, Duration wait, Duration length);
  void begin_late(ActiveFault& fault, uint64_t number);
  void undo(ActiveFault& fault);
  void cut_links(ActiveFault& fault);
  void mend_links(ActiveFault& fault);
  void lose_power(Duration length);
  void fade(ActiveFault whole, Duration length);
  void overtake(uint32_t node, Duration length);
  void freeze(uint32_t node, Duration length, FaultKind kind);
  bool suspended(uint32_t node) const;
  uint32_t victim();
  void hand_over_to(uint32_t dying);
  Links links_of(FaultKind kind);

  const FaultTargets targets_;
  World& world_;
  Random striking_;  // for the fault that strikes now
  FaultSchedule schedule_;
  LinkFaults links_;
  DiskFaults disks_;
  Overtaking overtaking_;
  FirstStart first_start_;
  std::vector<ActiveFault> active_;  // and those that were
  bool hostile_ = true;
};

}  // namespace coordkit::sim

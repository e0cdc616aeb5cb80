// The whole of one run: nodes, network, faults, work and observers on one world. It hands each event to its owner, injects
// the faults of the plan while the run is hostile, then heals everything and demands convergence.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "coordkit/sim/options.h"
#include "sim/churn.h"
#include "sim/consensus_observer.h"
#include "sim/history_recorder.h"
#include "sim/lease_observer.h"
#include "sim/lock_observer.h"
#include "sim/model.h"
#include "sim/network.h"
#include "sim/node.h"
#include "sim/plan.h"
#include "sim/programs.h"
#include "sim/promises.h"
#include "sim/roamers.h"
#include "sim/witness.h"
#include "sim/workload.h"
#include "sim/world.h"

namespace coordkit::sim {

class Cluster final : private NodeWatcher {
 public:
  Cluster(World& world, const Plan& plan, const SimOptions& options);
  ~Cluster() override;

  // To the end, or until a Violation is thrown.
  void run();
  void fill(Report& report) const;

 private:
  // What undoing an active fault needs.
  struct ActiveFault {
    FaultKind kind = FaultKind::Crash;
    std::vector<std::pair<uint32_t, uint32_t>> links;
    uint32_t node = 0;
    uint32_t epoch = 0;
    uint64_t recorded = ~uint64_t{0};  // by the recorder, if there is one
    Duration period{};                 // Flap; a waiting one: its length
    size_t message_kind = 0;           // HeldKind
    bool waits = false;                // not begun yet
    FileFaults files;                  // of a disk
    TrueTime until{};
    bool on = true;
  };

  // NodeWatcher
  void started(uint32_t node) override;
  void stopped(uint32_t node) override;
  void halted(uint32_t node) override;
  void space_changed(LogSpace space) override {
    if (space == LogSpace::Full) reach(Situation::WaitedForSpace);
  }
  void handling(uint32_t node, const EngineInput& input) override { promises_.handles(node, input); }
  bool may_go_on(uint32_t node) override;
  void pulled_out(uint32_t node) override;
  void checkpoint_waited() override { reach(Situation::CheckpointWaited); }
  void state_rewritten() override { reach(Situation::StateRewritten); }
  void log_scrubbed() override { reach(Situation::LogScrubbed); }
  void writing(uint32_t node, const LogWrite& write) override;
  void synced(uint32_t node) override;
  void turned(uint32_t node, EngineEffects& effects) override;
  void sending(uint32_t node, ReplicaId to, const Message& message) override;
  void answered(uint32_t node) override;

  void check_history();
  void record_standing(uint32_t node);

  void dispatch(const Event& event);
  void deliver(const Event& event);
  void connect(uint32_t a, uint32_t b);
  void disconnect(uint32_t node, uint32_t peer);
  void tell_cluster(uint32_t node);
  void reconnect_all(uint32_t node, Duration longest);

  // Faults (cluster_faults.cc).
  void plan_fault(size_t index);
  void fault_begin(const Event& event);
  void fault_end(const Event& event);
  void strike(FaultKind kind, Duration length);
  void record(ActiveFault& fault, Duration length);  // counts it, and marks it on the timeline
  void undo(ActiveFault& fault);
  void heal();
  void finish_upgrade();
  void cut_links(ActiveFault& fault);
  void mend_links(ActiveFault& fault);
  void notice_cuts(const ActiveFault& fault);
  void fade(ActiveFault whole, Duration length);
  void remember_later(ActiveFault fault, Duration wait, Duration length);
  void begin_late(ActiveFault& fault, uint64_t number);
  uint64_t remember(ActiveFault fault, Duration length);
  uint32_t victim();
  void crash(uint32_t node, Duration down, CrashKind kind);
  CrashKind any_crash() { return striking_.chance(0.5) ? CrashKind::Process : CrashKind::Power; }
  void restart(uint32_t node);
  void resume(uint32_t node);
  void restart_soon(uint32_t node);
  void freeze(uint32_t node, Duration length, FaultKind kind);
  void visit(uint32_t node);  // by a non-member
  std::vector<std::pair<uint32_t, uint32_t>> links_of(FaultKind kind);

  // Scripts (cluster_script.cc).
  class Stage;
  std::unique_ptr<Stage, void (*)(Stage*)> make_stage();
  void begin_script();
  void script_event(const Event& event);
  bool ended() const;  // a script or a program has finished
  void check_by_author() const;

  // Disks (cluster_disks.cc).
  void strike_disk(ActiveFault fault, Duration length);
  void refresh_disk(uint32_t node);
  bool lose_files(uint32_t node);
  void rot_everywhere();
  void plan_scrub(uint32_t node);
  void scrub(const Event& event);
  void look_for_healed(uint32_t node);
  bool rot_is_over() const;
  void look_for_mended(uint32_t node);
  void replace_disk(uint32_t node);
  void replace_bad_disks();

  // Convergence (cluster_calm.cc).
  void hostile_phase();
  bool calm_phase();
  template <typename Condition>
  bool run_until(TrueTime end, Condition condition);
  void await_dead_sessions();
  SessionId dead_session() const;
  Duration longest_ttl() const;
  bool has_leader() const;
  bool leader_began() const;
  bool level() const;
  bool levels_raised() const;  // to the newest one
  bool locks_free() const;
  std::string describe() const;
  void compare_with_model(uint32_t node);
  void compare_objects(uint32_t node) const;

  // Situations (cluster_situations.cc).
  void reach(Situation situation) { ++situations_[static_cast<size_t>(situation)]; }
  bool joint() const;
  void note_lost(uint32_t node);
  void note_cut();
  void note_message(uint32_t node, const Message& message);
  void note_turn(uint32_t node);
  void note_installed(uint32_t node);
  void note_opened(uint32_t node, const absl::Status& opened);
  bool takes_state(uint32_t node) const;

  World& world_;
  const Plan& plan_;
  const SimOptions& options_;
  Random random_;
  Random striking_;                // for the fault that strikes now
  std::vector<Random> schedules_;  // of each fault of the plan
  Network network_;
  Model model_;
  SituationCounts situations_{};
  std::vector<std::unique_ptr<Node>> nodes_;
  ConsensusObserver consensus_;
  Promises promises_;
  Churn churn_;
  LockObserver locks_;
  LeaseObserver leases_;
  Witness witness_;
  std::unique_ptr<HistoryRecorder> history_recorder_;  // if this run's history is searched
  HistoryRecorder::Result history_;
  std::unique_ptr<Workload> workload_;
  std::map<EventKind, std::unique_ptr<Roamers>> roamers_;  // by the event that wakes them
  Programs programs_;
  std::unique_ptr<Stage, void (*)(Stage*)> stage_;
  std::vector<ActiveFault> faults_;
  std::array<uint64_t, kFaultKinds> fault_counts_{};
  uint64_t strikes_ = 0;
  std::vector<uint64_t> struck_;  // which of them struck
  uint64_t crashes_ = 0;
  uint64_t cuts_ = 0;        // links cut now
  TrueTime promoted_at_{};   // when a learner last became a voter
  uint64_t promotions_ = 0;  // seen so far
  uint64_t elections_seen_ = 0;
  std::map<uint32_t, TrueTime> taking_state_;  // when a node last asked for rows
  Term told_to_campaign_{};                    // the term that a TimeoutNow asked for
  Term joint_in_{}, removed_in_{};             // already noted in this term
  uint64_t storms_ = 0;                        // in force
  std::vector<int> slow_;                      // slow-disk faults in force, per node
  std::vector<TrueTime> in_turn_until_;        // per node that must die in its next turn: when it is to be back; zero: none
  std::vector<uint32_t> rotten_since_;         // per node: the process under which something rotted; zero: none
  std::vector<bool> lacks_;                    // per node: its log ends before what its disk had held
  bool hostile_ = true;
  bool clocks_free_ = true;  // may change their rates
};

}  // namespace coordkit::sim

// One replica of the simulated cluster: an Engine and a Client on a disk, a clock and a place in the network, driven by exactly
// the turn discipline of engine.h. The machine (clock, disk) outlives the process (engine, client).
//
// A turn happens some moments after something was posted. A frozen process posts and does nothing until it resumes; then
// everything arrives at once. A crash may strike between turns or between the effects of one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "coordkit/client.h"
#include "coordkit/store_events.h"
#include "engine/event_log.h"
#include "sim/disk.h"
#include "sim/network.h"
#include "sim/node_clock.h"
#include "sim/plan.h"
#include "sim/state_disk.h"
#include "sim/world.h"

namespace coordkit::sim {

// The observer of a node. Called in order of events; throws Violation.
class NodeWatcher {
 public:
  virtual ~NodeWatcher() = default;
  virtual void started(uint32_t node) = 0;
  virtual void stopped(uint32_t node) = 0;     // crashed
  virtual void halted(uint32_t node) = 0;      // its disk failed and its process has ended
  virtual void resumed(uint32_t node) = 0;     // it was frozen
  virtual void pulled_out(uint32_t node) = 0;  // it must not continue; its process has ended
  virtual void space_changed(LogSpace space) = 0;
  virtual void checkpoint_waited() = 0;                                // its disk is full
  virtual void state_rewritten() = 0;                                  // it is rewritten from memory
  virtual void log_scrubbed() = 0;                                     // and was damaged
  virtual void handling(uint32_t node, const EngineInput& input) = 0;  // in the turn that begins
  virtual bool may_go_on(uint32_t node) = 0;                           // after the engine's part; false: its disk is replaced
  virtual void writing(uint32_t node, const LogWrite& write) = 0;      // before the store has it
  virtual void synced(uint32_t node) = 0;
  virtual void turned(uint32_t node, EngineEffects& effects) = 0;  // after the engine's part, writes submitted
  virtual void sending(uint32_t node, ReplicaId to, const Message& message) = 0;
  virtual void answered(uint32_t node) = 0;  // after the client's part
};

struct NodeParts {
  World& world;
  Network& network;
  NodeWatcher& watcher;
  const Plan& plan;
  const Defects& defects;
  const SimOptions& options;
};

class Node final : private StoreEvents {
 public:
  Node(const NodeParts& parts, uint32_t number, Random random);
  ~Node();

  uint32_t number() const { return number_; }
  ReplicaId id() const { return ReplicaId(number_ + 1); }
  bool up() const { return engine_ != nullptr; }
  bool frozen() const { return frozen_; }
  uint32_t epoch() const { return epoch_; }  // of the process; rises at every start and crash
  Now clock_now() const { return clock_.read(parts_.world.now()); }

  // Not OK: its disk cannot be opened; it stays down.
  absl::Status start();
  void crash(CrashKind kind);
  void lose_disk();  // while it is down: it returns blank, with another store id
  struct DiskCopy {
    LogDisk::Image log;
    RowMap state;
  };
  DiskCopy copy_disk() const { return {log_.disk().image(), state_.disk().image()}; }
  void set_back_disk(const DiskCopy& copy);  // while it is down
  void retire();                             // the end of the run; no longer observed
  void crash_in_next_turn() { crash_in_turn_ = true; }
  void spare() { crash_in_turn_ = false; }
  // A stopped process finds its mail waiting when it resumes; what arrived while its machine slept is sent again.
  // Clocks: the machine too, and its clocks stand as well.
  enum class Freeze : uint8_t { Process, Machine, Clocks };
  void freeze(Freeze what);
  void resume();

  void post(EngineInput input);
  void receive(std::unique_ptr<Parcel> parcel);
  // A non-member connects, sends all this and disconnects. The node runs, and is not frozen.
  void visited(const Hello& claim, std::vector<Message> said);
  // Requests a turn as after a post: a call was made on the client.
  void wake();
  void turn_event(const Event& event);
  void timer_event(const Event& event);
  void log_synced(const Event& event);
  void state_done(const Event& event);
  // Reads all that is stored, and reports to the engine what does not verify.
  void scrub();
  // Something it has stored cannot be read until it is rewritten or the process ends; false: nothing stored.
  bool rot_passing(Random& random);
  bool rots() const { return log_.disk().rots() || state_.disk().rots(); }
  bool rots_in_use() const { return log_.disk().rots_in_use() || state_.disk().rots(); }

  Hello hello_to(const Node& peer) const;

  NodeClock& clock() { return clock_; }
  SimLogStore& log() { return log_; }
  const SimLogStore& log() const { return log_; }
  bool intact() const { return log_.disk().damage().intact() && state_.disk().intact(); }  // its disk has everything it should
  SimStateStore& state() { return state_; }
  const SimStateStore& state() const { return state_; }
  Engine* engine() { return engine_.get(); }
  const Engine* engine() const { return engine_.get(); }
  Client& client() { return *client_; }
  uint64_t turns() const { return turns_; }
  bool too_old() const { return too_old_; }     // its build was, for what it has or was sent
  void stay_newest() { stays_newest_ = true; }  // from its next start on
  bool newest() const { return level_ == parts_.plan.newest_level; }
  bool refused_pair() const { return refused_pair_; }      // by the engine, at the last start
  uint64_t start_number() const { return start_number_; }  // of the process

 private:
  void log_space(LogSpace space) override {
    parts_.watcher.space_changed(space);
    StoreEvents::log_space(space);
  }
  void checkpoint_waits(absl::Status why) override {
    if (!why.ok()) parts_.watcher.checkpoint_waited();
    StoreEvents::checkpoint_waits(std::move(why));
  }
  void post_event(EngineInput input) override { post(std::move(input)); }
  void send_early();

  EngineOptions engine_options() const;
  absl::Status refused(const absl::Status& why);
  // Builds: which one starts next, and what happens to one that supports too little.
  void choose_build();
  void is_too_old(const absl::Status& why);
  void check_pair() const;
  bool one_turn();
  void halt();
  void told(const ReplicaEvent& event);
  void carry_out();
  void carry_out_part_and_die();
  void send(Outbound& outbound);
  void schedule_turn(Duration after);
  void arm_timer(Now now);
  std::vector<HostedMachine> machines() const;
  void work_on_states();
  void answer_later(Duration after, std::optional<EngineInput> answer);

  const NodeParts parts_;
  const uint32_t number_;
  Random random_;
  NodeClock clock_;
  SimLogStore log_;
  SimStateStore state_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Engine> proxy_;  // between client and engine if a defect wants it
  std::unique_ptr<Client> client_;
  std::optional<engine::EventLog> events_;
  std::optional<StateViews> views_;
  std::map<uint64_t, std::optional<EngineInput>> answers_;  // pending; none: machines to be built
  uint64_t last_answer_ = 0;
  EngineEffects effects_;
  std::vector<EngineInput> inbox_;
  std::vector<std::unique_ptr<Parcel>> missed_;  // arrived while the machine slept
  ClusterId cluster_;
  uint32_t epoch_ = 0;
  uint64_t start_number_ = 0;
  bool frozen_ = false;
  bool refused_pair_ = false;
  uint64_t level_ = 0;                  // feature level of the running build
  uint64_t highest_ = 0;                // of any build that ran here
  std::optional<uint64_t> next_level_;  // of the next start
  bool went_back_ = false;              // ever downgraded
  bool too_old_ = false;
  bool stays_newest_ = false;
  bool slept_ = false;      // frozen with its machine
  bool disk_lost_ = false;  // ever
  bool turn_scheduled_ = false;
  bool crash_in_turn_ = false;
  std::optional<TrueTime> timer_at_;
  std::optional<uint64_t> rejected_due_;  // message count that must not have been accepted after the next turn
  uint64_t turns_ = 0;
  uint64_t turns_in_a_row_ = 0;  // without time passing or entries applied
};

}  // namespace coordkit::sim

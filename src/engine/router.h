// Where committed entries meet the machines. Everything that must hold for every machine alike is decided here, once:
// exactly-once execution, the order of checks (docs/semantics.md S-42), the term guard of timers (docs/time.md T4), and
// what a checkpoint contains.
//
// Right of commit: no clock, no randomness, no knowledge of who waits. A committed entry that makes no sense stops the
// replica before it (a CheckFailure), because skipping it would let replicas diverge.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "coordkit/engine.h"
#include "coordkit/raft/entry.h"
#include "coordkit/state_machine.h"
#include "engine/log_command.h"
#include "engine/origins.h"

namespace coordkit::engine {

// The answer to a request, of this apply or a repeat of an earlier one.
struct Answer {
  RequestId request;
  ApplyOutput::Stage stage = ApplyOutput::Stage::Final;
  std::optional<Reason> refused;  // by the router; the machine never saw it
  std::string bytes;
  Index index;
};

struct MachineTimerOp {
  MachineId machine;
  TimerOp op;
};

// What applying a range of entries produced, in order.
struct RouterOutput {
  std::vector<Answer> answers;
  std::vector<MachineEvent> events;
  std::vector<MachineTimerOp> timer_ops;
  std::vector<Term> leader_starts;  // terms whose first entry was applied
  struct InForce {
    Index at;
    raft::Configuration configuration;
  };
  std::vector<InForce> configurations;  // that came with these entries

  void clear();
};

class Router {
 public:
  explicit Router(std::vector<HostedMachine> machines);

  void apply(std::span<const raft::Entry> entries, RouterOutput& output);

  Position applied() const { return applied_; }
  const std::optional<raft::Genesis>& genesis() const { return genesis_; }
  const raft::Configuration& configuration() const { return configuration_; }
  Position configuration_at() const { return configuration_at_; }  // of its entry; after a restore its term is an upper bound
  Term leader_term() const { return leader_term_; }                // of the newest first entry of a leader
  const Origins& origins() const { return origins_; }
  const StateMachine* machine(MachineId id) const;
  uint64_t digest() const;

  void checkpoint(CheckpointBatch& batch);
  absl::Status restore(const CheckpointView& view);
  void timers(std::vector<MachineTimerOp>& out) const;
  // What is known of a request that this replica submitted, in a state that came from a peer. Nothing: not executed yet.
  std::optional<Answer> stored(const RequestId& request) const;
  // StateMachine::standing, of a request that was answered Queued.
  std::optional<ApplyOutput::Result> standing(MachineId machine, const Command& queued) const;

 private:
  void apply_one(const raft::Entry& entry, RouterOutput& output);
  void apply_genesis(const raft::Entry& entry);
  void apply_command(const raft::Entry& entry, RouterOutput& output);
  void apply_request(const raft::Entry& entry, const Request& request, RouterOutput& output);
  void apply_registration(const RegisterOrigin& registration);
  void apply_fired(const raft::Entry& entry, const FireTimers& fired, RouterOutput& output);
  void flush(RouterOutput& output);                       // runs the collected commands
  void collect(MachineId machine, RouterOutput& output);  // moves one machine's output to the common one
  StateMachine* find(MachineId id);

  absl::btree_map<MachineId, std::unique_ptr<StateMachine>> machines_;
  Origins origins_;
  Position applied_;
  Term leader_term_;  // of the newest leader-start entry
  std::optional<raft::Genesis> genesis_;
  raft::Configuration configuration_;
  Position configuration_at_;

  // Consecutive requests of one machine are executed by one virtual call.
  MachineId batch_machine_;
  std::vector<Command> batch_;
  ApplyOutput machine_output_;
};

}  // namespace coordkit::engine

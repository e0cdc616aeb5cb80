// Where committed entries meet the machines. Everything that must hold for every machine alike is decided here, once:
// exactly-once execution, the order of checks (docs/semantics.md S-42), guards, the term guard of timers (docs/time.md T4),
// and what a checkpoint contains. A machine is part of the replicated state from its first command on (coordkit's own from
// genesis on). Before that it has no rows and no share in the digest, so that replicas may get it one after the other.
//
// Past commit: no clock, no randomness, no knowledge of callers. A committed entry that makes no sense stops the
// replica before it (a CheckFailure), because skipping it would let replicas diverge.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "coordkit/engine/engine.h"
#include "coordkit/ports/state_machine.h"
#include "coordkit/raft/entry.h"
#include "engine/apply/log_command.h"
#include "engine/calls/origins.h"

namespace coordkit::engine {

// The answer to a request, of this apply or a repeat of an earlier one.
struct Answer {
  RequestId request;
  ApplyOutput::Stage stage = ApplyOutput::Stage::Final;
  std::optional<Reason> refused;  // by the router; the machine never saw it, or its result was dropped (ResultTooLarge)
  SharedBytes bytes;
  Index index;
};

struct MachineTimerOp {
  MachineId machine;
  TimerOp op;
};

// A digest of the state after `index`: reported by an entry, or, without a voter, this replica's own.
struct DigestNote {
  ReplicaId voter;
  Index index;
  uint64_t digest = 0;
};

// The products of applying a range of entries, in order.
struct RouterOutput {
  std::vector<Answer> answers;
  std::vector<MachineEvent> events;
  std::vector<MachineTimerOp> timer_ops;
  std::vector<Term> leader_starts;  // terms whose first entry was applied
  std::vector<DigestNote> digests;
  struct InForce {
    Index at;
    raft::Configuration configuration;
  };
  std::vector<InForce> configurations;  // from these entries
  std::vector<RequestId> overtaking;    // arrived before their predecessor, and must be sent again
  std::vector<ApplyOutput::Act> acts;   // of remotes with names, for the audit

  void clear();
};

// A machine of the host's threw; says which machine, and where in the log.
class MachineThrew : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The log contains a feature level that this build does not support; says where.
class NewerLevel : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Router {
 public:
  // Own digests are noted after every entry whose index is a multiple of `digest_entries`; zero: never.
  explicit Router(std::vector<HostedMachine> machines, uint64_t digest_entries = 0);

  void note_digests_every(uint64_t entries) { digest_entries_ = entries; }
  void speak(uint64_t feature_level) { speaks_ = feature_level; }  // the newest that may occur

  void apply(std::span<const raft::Entry> entries, RouterOutput& output);

  Position applied() const { return applied_; }
  const std::optional<raft::Genesis>& genesis() const { return genesis_; }
  const raft::Configuration& configuration() const { return configuration_; }
  Position configuration_at() const { return configuration_at_; }  // of its entry; after a restore its term is an upper bound
  uint64_t feature_level() const { return feature_level_; }        // in force
  Term leader_term() const { return leader_term_; }                // of the newest first entry of a leader
  const Origins& origins() const { return origins_; }
  const StateMachine* machine(MachineId id) const;
  std::vector<MachineId> machines() const { return {begun_.begin(), begun_.end()}; }  // that have state, ascending
  // The client and the gateway of remotes each want a subject at most once, and end that themselves.
  void observe(MachineId id, std::string_view subject, bool wanted);
  void observe_as(const Router& previous);   // takes over the observed subjects of the router it replaces
  bool hosts(const Request& request) const;  // the machine of the request, and that of its guard
  // Over all replicated state: machines, origins, genesis, configuration, the newest leader's term.
  uint64_t digest() const;

  void checkpoint(CheckpointBatch& batch);
  // Every row, replacing whatever is stored; an error if a machine cannot write its rows.
  absl::Status whole_checkpoint(CheckpointBatch& batch);
  // kFailedPrecondition: the checkpoint has machines that are not hosted here, or a newer feature level. kDataLoss: it
  // is inconsistent.
  absl::Status restore(const CheckpointView& view);
  // The same checks for entries that are not applied yet.
  absl::Status check_readable(std::span<const raft::Entry> entries) const;
  void timers(std::vector<MachineTimerOp>& out) const;
  // The answer in a state from a peer to a request that this replica submitted. nullopt: not executed yet.
  std::optional<Answer> stored(const RequestId& request) const;
  bool executed(const Request& request) const;  // this very command; its answer is kept
  // StateMachine::queued_results, for requests that were answered Queued.
  void queued_results(MachineId machine, std::span<const RequestId> requests,
                      absl::FunctionRef<void(const ApplyOutput::Result&)> answer) const;

 private:
  void apply_one(const raft::Entry& entry, RouterOutput& output);
  void apply_genesis(const raft::Entry& entry);
  void apply_command(const raft::Entry& entry, RouterOutput& output);
  void apply_request(const raft::Entry& entry, const Request& request, RouterOutput& output);
  bool permitted(const raft::Entry& entry, const Request& request, RouterOutput& output);
  bool guard_met(const raft::Entry& entry, const Request& request, RouterOutput& output);
  void refuse(const raft::Entry& entry, const Request& request, Reason why, RouterOutput& output);
  void begin(MachineId id, StateMachine& machine, Index at);
  void apply_registration(const RegisterOrigin& registration, RouterOutput& output);
  void apply_raise(const raft::Entry& entry, const RaiseLevel& raise);
  void apply_fired(const raft::Entry& entry, const FireTimers& fired, RouterOutput& output);
  void flush(RouterOutput& output);                       // runs the collected commands
  void collect(MachineId machine, RouterOutput& output);  // moves one machine's output to the common one
  StateMachine* find(MachineId id);

  std::vector<HostedMachine> machines_;                                  // few
  absl::btree_map<std::pair<MachineId, std::string>, size_t> observed_;  // here, by how many; not replicated
  absl::btree_set<MachineId> begun_;                                     // started: part of the state. I: a subset of machines_
  Origins origins_;
  Position applied_;
  Term leader_term_;  // of the newest leader-start entry
  std::optional<raft::Genesis> genesis_;
  raft::Configuration configuration_;
  Position configuration_at_;
  uint64_t feature_level_ = 0;
  uint64_t speaks_ = kFeatureLevel;
  uint64_t digest_entries_ = 0;

  // Consecutive requests of one machine are executed by one virtual call.
  MachineId batch_machine_;
  std::vector<Command> batch_;
  ApplyOutput machine_output_;
};

}  // namespace coordkit::engine

// coordkit's own state machine: sessions, locks, keys, semaphores and the like. It is composed of lease::Table, lock::Table,
// mvcc::Store and coordination::Coordination, none of which knows another. It decides everything inside apply and reads
// nothing but the replicated state and the entry. This class has the order of the steps; parts with headers of their own have
// the commands.
//
// Each request arrives once (the router above answers repeats) and is answered with an encoded Result. An entry carries one
// request, so the index of an acquire's entry names its place in the queue.
//
// Timers. A session's timer has the session's id, its binding as group (none once it is ending) and its generation. A timed
// wait has a timer of its own, generation 0, named by the index of the acquire with the top bit set. Session ids stay below
// that bit (TokenCounter::kMax), so the two never meet, whatever the token base. A claim on an item that has a term continues
// with the timer of its wait, with its token as generation. A lock-delay's id is drawn from the same counter as the
// sessions', so it is never the id of a session; its generation is 0. A lease of keys has a timer like a session's, named by
// the number that the lease gets from that counter besides its own id. Every event that ends a session, a wait, a claim or a
// delay also disarms its timer, the firing itself included.
//
// Every entry sweeps a little of the history that a compaction of the keys leaves, so that no entry takes long.
//
// Release assertions: INV_L01, L04 to L07 and K02, each O(1) or O(what the entry touched).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/ports/state_machine.h"
#include "machine/checkpoint_rows.h"
#include "machine/keys/machine_keys.h"
#include "machine/keys/machine_leases.h"
#include "machine/locks/machine_locks.h"
#include "machine/machine_reads.h"
#include "machine/objects/machine_coordination.h"
#include "machine/permissions/machine_permissions.h"
#include "machine/sessions/machine_sessions.h"
#include "machine/state.h"

namespace coordkit::machine {

class Machine final : public StateMachine {
 public:
  // All checkpoint rows start with `row_prefix`, at most 48 bytes.
  explicit Machine(std::string row_prefix = {});
  Machine(const Machine&) = delete;  // its parts refer to its state
  Machine& operator=(const Machine&) = delete;

  void bootstrap(ClusterId cluster, uint64_t token_base) override;
  void apply(std::span<const Command> commands, ApplyOutput& output) override;
  void fire(Index index, std::span<const FiredTimer> timers, ApplyOutput& output) override;
  absl::StatusOr<std::string> query(std::string_view request) const override;
  bool holds(std::string_view guard) override;  // src/machine/guard.h
  bool permits(std::string_view remote, std::optional<std::string_view> guard) const override;
  // By subject_of(); only changes are observed: ends of sessions are always announced.
  void observe(std::string_view subject, bool wanted) override { coordination_.observe(subject, wanted); }
  void checkpoint(CheckpointBatch& batch) override;
  bool forget_stored() override;
  absl::Status restore(const CheckpointView& view) override;
  void queued_results(std::span<const RequestId> requests,
                      absl::FunctionRef<void(const ApplyOutput::Result&)> answer) const override;
  void timers(std::vector<TimerOp>& out) const override;
  uint64_t digest() const override;
  const Reads* reads() const override { return &reads_; }

  // ---- for tests and tools
  uint64_t recomputed_digest() const;  // the same from all records, O(n)
  void verify() const;                 // INV_L07 in full, and the digest: O(n); throws CheckFailure
  size_t sessions() const { return state_.sessions.size(); }
  size_t lock_names() const { return state_.locks.view().names(); }
  size_t lock_claims() const { return state_.locks.view().claims(); }
  size_t keys() const { return state_.keys.size(); }
  size_t leases() const { return state_.leases.size(); }
  size_t cancel_marks() const { return state_.cancels.size(); }
  size_t coordination_records() const { return state_.coordination.records(); }
  uint64_t last_token() const { return state_.counter.last(); }

 private:
  void apply_one(const Command& command, ApplyOutput& output);
  Answer outcome_of(const Command& command, const std::optional<Needs>& needs, ApplyStep& step);
  template <typename Body>
  Answer execute(Body& body, ApplyStep& step);
  void decide_waits(ApplyStep& step);
  void decide_touched(ApplyStep& step);  // the same, if a lock or an object was touched
  void announce(const lock::Decision& decision, ApplyStep& step);
  rows::Counters counters() const;

  const std::string prefix_;
  State state_;
  MachineCoordination coordination_{state_};
  MachineKeys keys_{state_};
  MachineLeases leases_{state_, keys_};
  MachineLocks locks_{state_, coordination_};
  MachineSessions sessions_{state_, coordination_, keys_};
  MachinePermissions permissions_{state_};
  const MachineReads reads_{state_};
  std::optional<rows::Counters> stored_counters_;  // as the last checkpoint has them
  lock::Decisions decisions_;                      // scratch for one step
  Request request_;                                // the request that is applied
  std::string scratch_;                            // a result while it is written
};

}  // namespace coordkit::machine

// A state machine for tests: a counter with waiters and timers, driven by words.
//
//   add N           total += N; answers the new total        wait            queued until a wake
//   arm ID GEN MS [NODE BOOT INCARNATION]                    wake            answers all waiters, then itself
//   disarm ID                                                say WORD        an event
//   result N        answers N bytes
//   forget          breaks the contract of apply: no answer
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "base/row_map.h"
#include "coordkit/engine/state_transfer.h"
#include "coordkit/ports/state_machine.h"

namespace coordkit::engine {

class Counter final : public StateMachine {
 public:
  explicit Counter(MachineId id = kCoordination) : id_(id) {}

  void bootstrap(ClusterId cluster, uint64_t token_base) override;
  void apply(std::span<const Command> commands, ApplyOutput& output) override;
  void fire(Index index, std::span<const FiredTimer> timers, ApplyOutput& output) override;
  absl::StatusOr<std::string> query(std::string_view request) const override;  // "total", "executed", "throw"
  void observe(std::string_view subject, bool wanted) override;
  bool holds(std::string_view guard) override;  // "N": the total is at least N; "throw"
  bool permits(std::string_view, std::optional<std::string_view>) const override { return permitted; }
  bool permitted = true;                  // remotes, to have guards and other machines
  std::vector<std::string> remotes = {};  // names of the remotes whose commands were executed; not part of the state
  void checkpoint(CheckpointBatch& batch) override;
  bool forget_stored() override { return !cannot_write_anew; }
  bool cannot_write_anew = false;
  std::string another_row;  // a key; empty: none
  absl::Status restore(const CheckpointView& view) override;
  void queued_results(std::span<const RequestId> requests,
                      absl::FunctionRef<void(const ApplyOutput::Result&)> answer) const override;
  void timers(std::vector<TimerOp>& out) const override;
  uint64_t digest() const override;

  int64_t total() const { return total_; }
  const std::vector<std::string>& executed() const { return executed_; }  // every command, in order
  const std::vector<size_t>& batches() const { return batches_; }         // sizes of apply calls; not part of the state
  const absl::btree_map<TimerId, TimerOp>& armed() const { return armed_; }
  const std::vector<FiredTimer>& fired() const { return fired_; }
  const std::set<std::string>& observed() const { return observed_; }  // in this process; not part of the state
  ClusterId cluster() const { return cluster_; }
  size_t founded() const { return founded_; }  // calls of found() in this process

  bool throw_in_apply = false;  // of this replica only
  bool throw_in_checkpoint = false;
  bool throw_in_bootstrap = false;
  bool throw_in_digest = false;
  bool throw_in_queued_results = false;
  std::function<void()> in_restore;  // none: nothing happens
  int64_t skew = 0;                  // added to every add, by this replica only: not deterministic

 private:
  void execute(const Command& command, ApplyOutput& output);
  std::string state() const;

  MachineId id_;
  ClusterId cluster_;
  uint64_t token_base_ = 0;
  size_t founded_ = 0;
  int64_t total_ = 0;
  std::vector<std::string> executed_;
  std::vector<RequestId> waiters_;
  std::set<std::string> observed_;
  absl::btree_map<TimerId, TimerOp> armed_;
  std::vector<FiredTimer> fired_;
  std::vector<size_t> batches_;
};

// The rows that batches leave behind; a StateStore in a map, and the staged rows beside it.
class Table final : public CheckpointView {
 public:
  void commit(const CheckpointBatch& batch);
  void stage(const StateRows& chunk);
  bool install(Position at, uint64_t digest);  // false: refused
  Position applied() const override { return applied_; }
  bool installed() const override { return installed_; }
  absl::Status scan(std::string_view prefix, Visitor visit) const override { return scan_prefix(rows, prefix, visit); }
  absl::Status scan_range(const KeyRange& range, Visitor visit) const override {
    return coordkit::scan_range(rows, range, visit);
  }
  uint64_t digest() const override { return digest_of(rows); }

  std::map<std::string, std::string> rows;
  std::map<std::string, std::string> staged;

 private:
  Position applied_;
  bool installed_ = false;
};

}  // namespace coordkit::engine

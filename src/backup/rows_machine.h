// Replaces a machine of the host that is not available. Its rows are kept as they are, and can only be passed on.
#pragma once

#include <string>
#include <string_view>

#include "coordkit/ports/row_table.h"
#include "coordkit/ports/state_machine.h"

namespace coordkit::backup {

class RowsMachine final : public StateMachine {
 public:
  explicit RowsMachine(MachineId id) : rows_(id) {}

  void bootstrap(ClusterId, uint64_t) override {}
  void apply(std::span<const Command> commands, ApplyOutput& output) override;  // throws: callers must check before
  void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}       // no machine armed such a timer
  absl::StatusOr<std::string> query(std::string_view request) const override;
  void checkpoint(CheckpointBatch& batch) override { rows_.checkpoint(batch); }
  bool forget_stored() override { return rows_.forget_stored(); }
  absl::Status restore(const CheckpointView& view) override { return rows_.restore(view); }
  void timers(std::vector<TimerOp>&) const override {}
  uint64_t digest() const override { return rows_.digest(); }

 private:
  RowTable rows_;
};

}  // namespace coordkit::backup

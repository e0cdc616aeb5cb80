// When the applied state is written to its store, and what has to be rewritten because the disk has lost it
// (state_repair.h). It is written once the log has it durably, so that no log ends before its checkpoint.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/apply/router.h"
#include "engine/disks/state_repair.h"
#include "engine/loop/consensus.h"

namespace coordkit::engine {

class Checkpoints {
 public:
  explicit Checkpoints(const EngineOptions& options) : options_(options) {}

  // A checkpoint at this position is durable without having been asked for: recovered, or installed.
  void begin_at(Index applied);
  void applied(size_t bytes) { bytes_since_ += bytes; }
  // Takes a checkpoint if one is due, and collects it into the effects. An error: a machine cannot write a whole one.
  absl::Status collect(Router& router, Turn& turn);
  // A checkpoint at this position or beyond it is needed.
  void want(Index at_least) { wanted_ = std::max(wanted_, at_least); }
  // Nothing may be installed: one is being written, or a whole one is to be, before which the store takes nothing.
  bool in_the_way() const { return under_way_ || repair_.whole_owed(); }
  Index checkpointed() const { return checkpointed_; }

  // ---- reports of the store
  void done(const StateCheckpointed& checkpoint, Turn& turn);
  void dropped() { under_way_ = false; }  // it has given up what was in progress
  // The applied state is in memory, whatever happened to its copy on disk.
  void damaged(const absl::Status& why) {
    repair_.damaged(why);
    taken_.reset();  // a whole one takes its place
  }
  void waits(const absl::Status& why) { repair_.waits(why); }
  // Entries of the log up to `last` are damaged.
  void log_damaged(Index last, const absl::Status& why, Turn& turn);
  void warnings(std::vector<std::string>& out) const { repair_.warnings(out); }

 private:
  bool due(Index applied) const;
  absl::Status take(Router& router);

  const EngineOptions& options_;
  Index checkpointed_;
  Index wanted_;
  std::optional<CheckpointBatch> taken_;  // waits for the log
  bool under_way_ = false;
  uint64_t bytes_since_ = 0;  // applied
  StateRepair repair_;
};

}  // namespace coordkit::engine

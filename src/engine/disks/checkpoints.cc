#include "engine/disks/checkpoints.h"

#include <utility>

namespace coordkit::engine {

void Checkpoints::begin_at(Index applied) {
  checkpointed_ = applied;
  bytes_since_ = 0;
  taken_.reset();
}

void Checkpoints::done(const StateCheckpointed& checkpoint, Turn& turn) {
  under_way_ = false;
  checkpointed_ = checkpoint.applied.index;
  const Index unreadable = repair_.checkpointed(checkpointed_);
  if (turn.consensus.runs()) turn.consensus.step(raft::Checkpointed{checkpoint.applied, unreadable}, turn.now.lagging);
}

// A durable checkpoint may already cover it: the log is kept for longer than checkpoints need it.
void Checkpoints::log_damaged(Index last, const absl::Status& why, Turn& turn) {
  repair_.log_damaged(last, why);
  const Index unreadable = repair_.log_covered(checkpointed_);
  if (unreadable) turn.consensus.step(raft::Checkpointed{{}, unreadable}, turn.now.lagging);
}

// The state may be ahead of this disk's log, under load for as long as that lasts: it is taken when it is due.
absl::Status Checkpoints::collect(Router& router, Turn& turn) {
  if (!under_way_ && !taken_ && due(router.applied().index)) {
    if (absl::Status status = take(router); !status.ok()) return status;
  }
  if (!taken_ || taken_->applied.index > turn.consensus.core()->durable()) return absl::OkStatus();
  turn.effects.checkpoint = std::exchange(taken_, std::nullopt);
  under_way_ = true;
  return absl::OkStatus();
}

absl::Status Checkpoints::take(Router& router) {
  CheckpointBatch& batch = taken_.emplace();
  bytes_since_ = 0;
  if (!repair_.whole_owed()) {
    router.checkpoint(batch);
    return absl::OkStatus();
  }
  repair_.writing_whole();
  return router.whole_checkpoint(batch);
}

bool Checkpoints::due(Index applied) const {
  if (repair_.whole_owed()) return true;
  if (applied <= checkpointed_ || applied == Index(1)) return false;  // the genesis alone may give way, and stays in the log
  if (wanted_ > checkpointed_ && applied >= wanted_) return true;
  return applied - checkpointed_ >= options_.checkpoint_entries || bytes_since_ >= options_.checkpoint_bytes ||
         repair_.checkpoint_wanted(checkpointed_, applied);
}

}  // namespace coordkit::engine

#include "engine/checkpoints.h"

namespace coordkit::engine {

void Checkpoints::begin_at(Index applied) {
  checkpointed_ = applied;
  bytes_since_ = 0;
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

absl::Status Checkpoints::collect(Router& router, Turn& turn) {
  const Index applied = router.applied().index;
  if (under_way_ || applied > turn.consensus.core()->durable() || !due(applied)) return absl::OkStatus();
  CheckpointBatch& batch = turn.effects.checkpoint.emplace();
  if (repair_.whole_owed()) {
    if (absl::Status status = router.whole_checkpoint(batch); !status.ok()) return status;
    repair_.writing_whole();
  } else {
    router.checkpoint(batch);
  }
  under_way_ = true;
  bytes_since_ = 0;
  return absl::OkStatus();
}

bool Checkpoints::due(Index applied) const {
  if (repair_.whole_owed()) return true;
  if (applied <= checkpointed_) return false;
  if (wanted_ > checkpointed_ && applied >= wanted_) return true;
  return applied - checkpointed_ >= options_.checkpoint_entries || bytes_since_ >= options_.checkpoint_bytes ||
         repair_.checkpoint_wanted(checkpointed_, applied);
}

}  // namespace coordkit::engine

#include "sim/nodes/inbox.h"

namespace coordkit::sim {

void Inbox::close() {
  open_ = false;
  inputs_.clear();
}

void Inbox::post(EngineInput input) {
  if (!open_) return;
  inputs_.push_back(std::move(input));
  schedule_.wake();
}

void Inbox::log_space(LogSpace space) {
  if (space == LogSpace::Full) watcher_.reached(Situation::WaitedForSpace);
  StoreEvents::log_space(space);
}

void Inbox::log_waits(absl::Status why) {
  if (!why.ok()) watcher_.reached(Situation::SegmentAwaited);
  StoreEvents::log_waits(std::move(why));
}

void Inbox::log_spare_fails(absl::Status why) {
  watcher_.reached(why.ok() ? Situation::SpareMadeAgain : Situation::SpareDropped);
  StoreEvents::log_spare_fails(std::move(why));
}

void Inbox::checkpointed(Position applied) {
  if (std::exchange(in_doubt_, false)) watcher_.reached(Situation::CheckpointSoundAgain);
  StoreEvents::checkpointed(applied);
}

void Inbox::checkpoint_damaged(absl::Status why) {
  if (!std::exchange(in_doubt_, true)) watcher_.reached(Situation::CheckpointInDoubt);
  StoreEvents::checkpoint_damaged(std::move(why));
}

void Inbox::checkpoint_waits(absl::Status why) {
  if (!why.ok()) {
    watcher_.reached(absl::IsDataLoss(why) ? Situation::FreshCheckpointFailed : Situation::CheckpointWaited);
  }
  StoreEvents::checkpoint_waits(std::move(why));
}

}  // namespace coordkit::sim

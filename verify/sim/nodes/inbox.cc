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
  watcher_.space_changed(space);
  StoreEvents::log_space(space);
}

void Inbox::checkpoint_waits(absl::Status why) {
  if (!why.ok()) watcher_.checkpoint_waited();
  StoreEvents::checkpoint_waits(std::move(why));
}

}  // namespace coordkit::sim

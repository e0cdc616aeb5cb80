// Mail for the next turn of a node's process: messages, reports of its stores, and requests. Each addition is followed by a
// wake. When no process runs nothing is kept.
#pragma once

#include <utility>
#include <vector>

#include "coordkit/ports/store_events.h"
#include "sim/nodes/node_parts.h"
#include "sim/nodes/turn_schedule.h"

namespace coordkit::sim {

class Inbox final : public StoreEvents {
 public:
  Inbox(NodeWatcher& watcher, TurnSchedule& schedule) : watcher_(watcher), schedule_(schedule) {}

  void open() { open_ = true, in_doubt_ = false; }
  void close();
  void post(EngineInput input);
  std::vector<EngineInput>& inputs() { return inputs_; }

  // Reports of its stores, some of which are situations.
  void log_space(LogSpace space) override;
  void log_waits(absl::Status why) override;
  void log_spare_fails(absl::Status why) override;
  void checkpointed(Position applied) override;
  void checkpoint_damaged(absl::Status why) override;
  void checkpoint_waits(absl::Status why) override;

 private:
  void post_event(EngineInput input) override { post(std::move(input)); }

  NodeWatcher& watcher_;
  TurnSchedule& schedule_;
  bool open_ = false;
  bool in_doubt_ = false;  // what the state store holds
  std::vector<EngineInput> inputs_;
};

}  // namespace coordkit::sim

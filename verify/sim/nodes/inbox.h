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

  void open() { open_ = true; }
  void close();
  void post(EngineInput input);
  std::vector<EngineInput>& inputs() { return inputs_; }

  void log_space(LogSpace space) override;
  void checkpoint_waits(absl::Status why) override;

 private:
  void post_event(EngineInput input) override { post(std::move(input)); }

  NodeWatcher& watcher_;
  TurnSchedule& schedule_;
  bool open_ = false;
  std::vector<EngineInput> inputs_;
};

}  // namespace coordkit::sim

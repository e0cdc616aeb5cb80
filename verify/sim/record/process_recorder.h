// Processes in a timeline: in which role each is, when it is down or frozen, and how far its log is.
#pragma once

#include <optional>
#include <vector>

#include "coordkit/engine/engine.h"
#include "sim/record/timeline_rows.h"
#include "sim/world/disk.h"

namespace coordkit::sim {

class ProcessRecorder {
 public:
  ProcessRecorder(Timeline& timeline, const World& world, uint32_t nodes);

  void started(uint32_t node);
  void stopped(uint32_t node);
  void frozen(uint32_t node, const char* how);
  void resumed(uint32_t node);
  void stands(uint32_t node, const Engine& engine, const SimLogStore& log);
  void finish();

 private:
  Timeline& timeline_;
  const World& world_;
  std::vector<Timeline::Stands> standing_;
  std::vector<Timeline::Progress> progressing_;
  std::vector<std::optional<uint64_t>> freezing_;  // its row
  BoundedList<Timeline::Stands> states_;
  BoundedList<Timeline::Frozen> frozen_;
  BoundedList<Timeline::Progress> progress_;
};

}  // namespace coordkit::sim

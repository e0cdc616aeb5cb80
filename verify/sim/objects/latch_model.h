// The naive twin of the latches.
#pragma once

#include <map>
#include <string>

#include "machine/command.h"
#include "machine/objects/object_views.h"
#include "sim/objects/waits_and_holds.h"

namespace coordkit::sim {

class LatchModel {
 public:
  LatchModel(WaitsAndHolds& lines, CoordinationEntry& entry) : lines_(lines), entry_(entry) {}

  machine::Result run(const machine::CreateLatch& create);
  machine::Result run(const machine::CountDown& count);
  machine::Result run(const machine::AwaitLatch& await);
  machine::Result run(const machine::DeleteLatch& erase);
  void show(const std::string& name, machine::ObjectView& view) const;

 private:
  WaitsAndHolds& lines_;
  CoordinationEntry& entry_;
  std::map<std::string, uint64_t> counts_;
};

}  // namespace coordkit::sim

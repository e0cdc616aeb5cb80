// The naive twin of the semaphores.
#pragma once

#include <map>
#include <string>

#include "machine/command.h"
#include "machine/objects/object_views.h"
#include "sim/objects/waits_and_holds.h"

namespace coordkit::sim {

class SemaphoreModel {
 public:
  SemaphoreModel(WaitsAndHolds& lines, CoordinationEntry& entry) : lines_(lines), entry_(entry) {}

  machine::Result run(const machine::SetSemaphoreLimit& set);
  machine::Result run(const machine::AcquirePermits& acquire);
  machine::Result run(const machine::DeleteSemaphore& erase);
  void serve();
  void show(const std::string& name, machine::ObjectView& view) const;

 private:
  uint64_t taken(const std::string& name) const;
  bool fits(const std::string& name, uint64_t count) const;

  WaitsAndHolds& lines_;
  CoordinationEntry& entry_;
  std::map<std::string, uint64_t> limits_;
};

}  // namespace coordkit::sim

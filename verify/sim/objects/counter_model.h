// The naive twin of the counters.
#pragma once

#include <map>
#include <string>

#include "machine/command.h"
#include "machine/objects/object_views.h"
#include "sim/objects/coordination_entry.h"

namespace coordkit::sim {

class CounterModel {
 public:
  explicit CounterModel(CoordinationEntry& entry) : entry_(entry) {}

  machine::Result run(const machine::ChangeCounter& change);
  void show(const std::string& name, machine::ObjectView& view) const;

 private:
  CoordinationEntry& entry_;
  std::map<std::string, int64_t> counters_;
};

}  // namespace coordkit::sim

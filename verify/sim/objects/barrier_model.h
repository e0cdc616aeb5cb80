// The naive twin of the barriers: those that exist are closed.
#pragma once

#include <map>
#include <string>

#include "machine/command.h"
#include "machine/objects/object_views.h"
#include "sim/objects/waits_and_holds.h"

namespace coordkit::sim {

class BarrierModel {
 public:
  BarrierModel(WaitsAndHolds& lines, CoordinationEntry& entry) : lines_(lines), entry_(entry) {}

  machine::Result run(const machine::CloseBarrier& close);
  machine::Result run(const machine::OpenBarrier& open);
  machine::Result run(const machine::AwaitBarrier& await);
  void end(SessionId session);
  void show(const std::string& name, machine::ObjectView& view) const;

 private:
  struct Barrier {
    SessionId session;
    machine::AtSessionEnd at_end;
  };

  WaitsAndHolds& lines_;
  CoordinationEntry& entry_;
  std::map<std::string, Barrier> barriers_;
};

}  // namespace coordkit::sim

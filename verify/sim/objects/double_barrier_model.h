// The naive twin of the double barriers: parties meet there, enter together and leave together.
#pragma once

#include <map>
#include <string>

#include "machine/command.h"
#include "machine/objects/object_views.h"
#include "sim/objects/waits_and_holds.h"

namespace coordkit::sim {

class DoubleBarrierModel {
 public:
  enum class Waiter : uint8_t { MayReturn, IsGone };  // a party that may is counted on

  DoubleBarrierModel(WaitsAndHolds& lines, CoordinationEntry& entry) : lines_(lines), entry_(entry) {}

  machine::Result run(const machine::EnterBarrier& enter);
  machine::Result run(const machine::LeaveBarrier& leave);
  // Before the waits of the session end, or its holds.
  void end_waits(SessionId session, Waiter waiter);
  void end_holds(SessionId session);
  void serve();
  void show(const std::string& name, machine::ObjectView& view) const;

 private:
  struct Meeting {
    Index made;
    uint64_t parties = 0, expected = 0;
    machine::AtPartyEnd at_end{};
    bool complete = false, broken = false;
  };
  bool serve_one();

  WaitsAndHolds& lines_;
  CoordinationEntry& entry_;
  std::map<std::string, Meeting> meetings_;
};

}  // namespace coordkit::sim

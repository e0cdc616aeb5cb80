// The machine's part for permissions (docs/semantics.md S-70): its command, and the check of every other one.
#pragma once

#include <optional>
#include <string>

#include "machine/permissions/denial.h"
#include "machine/state.h"

namespace coordkit::machine {

class MachinePermissions {
 public:
  explicit MachinePermissions(State& state) : state_(state) {}

  Answer execute(SetPermissions& set, ApplyStep& step);

  // Why the command of a remote is not executed, as its answer. nullopt: it may be.
  Answer refusal(const Command& command, const Needs& needs) const;

 private:
  State& state_;
};

}  // namespace coordkit::machine

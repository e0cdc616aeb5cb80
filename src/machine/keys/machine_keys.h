// The machine as the entrance to the revisioned store. It executes commands on keys, and limits the room that keys may take.
// When a session or a lease ends, it deletes the attached keys.
#pragma once

#include <string_view>

#include "machine/command.h"
#include "machine/state.h"

namespace coordkit::machine {

class MachineKeys {
 public:
  explicit MachineKeys(State& state) : state_(state) {}

  Answer execute(Put& put, ApplyStep& step);
  Answer execute(Delete& erase, ApplyStep& step);
  Answer execute(Transaction& transaction, ApplyStep& step);
  Answer execute(Compact& compact, ApplyStep& step);
  Answer execute(SetKeyQuota& set, ApplyStep& step);

  void end_attached(LeaseId lease);
  // S-58: checks the lock as a guard does; it retires the tokens of a delegation that came before this one.
  bool lock_shown(std::string_view name, Token token, bool exclusive);

 private:
  bool has_room(uint64_t growth);

  State& state_;
};

}  // namespace coordkit::machine

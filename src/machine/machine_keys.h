// The machine as the entrance to the revisioned store: what its commands come to, what the end of a session or a lease does to
// the keys that are attached to it, and the limit of the room that keys may take.
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
  // S-58: as a guard; the tokens of a delegation that came before this one are retired by it.
  bool lock_shown(std::string_view name, Token token, bool exclusive);

 private:
  bool has_room(uint64_t growth);

  State& state_;
};

}  // namespace coordkit::machine

// The machine's leases of keys (docs/semantics.md S-29 to S-33). A lease lives like a session, by the same timers and
// renewals. It has another kind of name, and other things end with it (docs/decisions/0012).
#pragma once

#include "machine/command.h"
#include "machine/keys/machine_keys.h"
#include "machine/state.h"

namespace coordkit::machine {

class MachineLeases {
 public:
  MachineLeases(State& state, MachineKeys& keys) : state_(state), keys_(keys) {}

  Answer execute(GrantLease& grant, ApplyStep& step);
  Answer execute(RenewLease& renew, ApplyStep& step);
  Answer execute(RevokeLease& revoke, ApplyStep& step);

  // S-30: ends the lease and all its keys, in this one apply and one revision.
  void end(SessionId number, SessionEnded::Reason reason, ApplyStep& step);

 private:
  State& state_;
  MachineKeys& keys_;
};

}  // namespace coordkit::machine

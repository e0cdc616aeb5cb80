// The machine's sessions: the process to which one belongs, how it changes hands, and how it ends (docs/semantics.md S-45,
// S-57).
//
// A session belongs to the process to which it is bound. Once it is bound to another process, every request of the previous
// one is answered Lost, a release included. The previous process may wake from a pause and give back a lock on which the new
// one relies. The same holds for requests that a process sent before the session went to another process and came back.
#pragma once

#include "machine/command.h"
#include "machine/keys/machine_keys.h"
#include "machine/objects/machine_coordination.h"
#include "machine/state.h"

namespace coordkit::machine {

class MachineSessions {
 public:
  MachineSessions(State& state, MachineCoordination& coordination, MachineKeys& keys)
      : state_(state), coordination_(coordination), keys_(keys) {}

  // Ok if the request is well-formed, and its session, if it names one, is live and belongs to the sender.
  ResultCode admit(const Request& request, const RequestId& by) const;

  Answer execute(OpenSession& open, ApplyStep& step);
  Answer execute(CloseSession& close, ApplyStep& step);
  Answer execute(ResumeSession& resume, ApplyStep& step);
  Answer execute(KillSession& kill, ApplyStep& step);
  Answer execute(ForceRelease& force, ApplyStep& step);

  void end(SessionId id, SessionEnded::Reason reason, ApplyStep& step);  // for a live session; ends all that it holds, too

 private:
  void mark_ending(SessionId id, ApplyStep& step);

  State& state_;
  MachineCoordination& coordination_;
  MachineKeys& keys_;
};

}  // namespace coordkit::machine

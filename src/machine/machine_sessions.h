// The machine's sessions: whose one is, how it changes hands, and what ends it (docs/semantics.md S-45, S-57).
//
// A session belongs to the process it is bound to. Once it is bound anew, whatever the previous process still sends is answered
// Lost, a release included: the former one may wake from a pause and give back a lock that the new one relies on. So is what a
// process sent before the session went away from it and came back.
#pragma once

#include "machine/command.h"
#include "machine/machine_coordination.h"
#include "machine/machine_keys.h"
#include "machine/state.h"

namespace coordkit::machine {

class MachineSessions {
 public:
  MachineSessions(State& state, MachineCoordination& coordination, MachineKeys& keys)
      : state_(state), coordination_(coordination), keys_(keys) {}

  // Ok if the request is well-formed and its session, if it names one, is live and its sender's own.
  ResultCode admit(const Request& request, const RequestId& by) const;

  Answer execute(OpenSession& open, ApplyStep& step);
  Answer execute(CloseSession& close, ApplyStep& step);
  Answer execute(ResumeSession& resume, ApplyStep& step);
  Answer execute(KillSession& kill, ApplyStep& step);
  Answer execute(ForceRelease& force, ApplyStep& step);

  void end(SessionId id, SessionEnded::Reason reason, ApplyStep& step);  // a live one, and all it holds

 private:
  void mark_ending(SessionId id, ApplyStep& step);

  State& state_;
  MachineCoordination& coordination_;
  MachineKeys& keys_;
};

}  // namespace coordkit::machine

// Port: a timer with a thread of its own that notifies holders when their time is over, even if the client's owner
// thread is busy or stuck (docs/semantics.md S-52). Without one the client tells them in its next turn.
//
// The client calls it on its owner thread; no call may block. When a session's deadline has passed, the watch takes it to
// jeopardy with SessionState::expire(): the one that makes that change, the watch or the client, announces it, so that every
// change is announced once. Announcements of both must reach the user in the order of the changes.
#pragma once

#include <memory>

#include "absl/functional/any_invocable.h"
#include "coordkit/client/handles.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

class ValidityWatch {
 public:
  using OnPhase = std::shared_ptr<absl::AnyInvocable<void(SessionPhase)>>;  // may be null

  virtual ~ValidityWatch() = default;
  // The session is valid until its deadline. That may move later; it is to be read again when it comes.
  virtual void valid(const SessionRef& session, const OnPhase& on_phase) = 0;
  virtual void granted(const HoldRef& hold) = 0;
  virtual void gone(const HoldState& hold) = 0;  // released, or notified by the client
  virtual void lost(SessionId session) = 0;      // with all its holds; notified by the client
};

}  // namespace coordkit

// Port: a timer with a thread of its own that notifies holders when their time is over, even if the
// client's owner thread is busy or stuck (docs/semantics.md S-52). Without it the client notifies
// them in its next turn.
//
// When a session's deadline has passed, the watch moves it to jeopardy with SessionState::expire().
// The one that makes that change, the watch or the client, announces it, so that every change is
// announced once. Announcements of both must reach the user in the order of the changes.
//
// Threads: the client calls it on its owner thread; no call may block.
#pragma once

#include <mutex>

#include "absl/functional/any_invocable.h"
#include "coordkit/client/handles.h"
#include "coordkit/client/holds.h"
#include "coordkit/client/ref.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

// Receives every change of phase. Running announcements keep it alive.
struct PhaseCallback : RefCounted {
  // `to_run`: not empty.
  explicit PhaseCallback(absl::AnyInvocable<void(SessionPhase)> to_run) : run(std::move(to_run)) {}
  absl::AnyInvocable<void(SessionPhase)> run;  // called where announcements are made, one call
                                               // at a time
};
using OnPhase = Ref<PhaseCallback>;  // null: nobody listens

// A session as its client keeps it and its watch sees it, from valid() until expire() or lost().
struct WatchedSession {
  SessionRef state;  // never null
  OnPhase on_phase;  // may be null
  Holds holds;       // granted by the log; they change under the watch's guard()
  // For the watch alone: links the sessions that it has into a list.
  WatchedSession *before = nullptr, *after = nullptr;  // null: none
  bool watched = false;                                // whether the watch has it
};

class ValidityWatch {
 public:
  virtual ~ValidityWatch() = default;
  // While it is held, the watch reads no session's holds.
  virtual std::unique_lock<std::mutex> guard() = 0;
  // The session is valid until its deadline. The deadline may move later; read it again when it
  // comes.
  virtual void valid(WatchedSession& session) = 0;
  // The session is no longer valid. The client announces that, for its holds too. It may be
  // destroyed after this, or become valid() again later. Also called for a session that the watch
  // does not have.
  virtual void lost(WatchedSession& session) = 0;
  // The hold has a longest time (S-51): at HoldState::until() its holder is notified.
  virtual void limited(const HoldRef& hold) = 0;
  // Its end before that time: released, or notified by the client.
  virtual void limit_over(const HoldRef& hold) = 0;
};

}  // namespace coordkit

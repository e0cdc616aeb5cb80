// The news for the host's code: phases and lost holds of sessions, events, leadership. All of it runs on one thread, in order,
// and none of it can harm the replica (host_code.h).
//
// Threads: tell() is for the engine's, the rest for any. Lifetime: what the client holds of it (deadlines()) ends with the
// client's last turn. After stop() announce() and run() run what they are given on the caller's thread, and nothing else does.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "coordkit/engine/engine.h"
#include "coordkit/operate/replica_event.h"
#include "coordkit/ports/clock.h"
#include "coordkit/service.h"
#include "service/locks/deadline_timer.h"
#include "service/loop/callback_thread.h"
#include "service/loop/event_feed.h"
#include "service/loop/event_relay.h"
#include "service/loop/host_code.h"

namespace coordkit {

// The program's functions; those that are set are called.
struct HostCallbacks {
  OnReplicaEvent on_event = {};
  std::function<void(const raft::Leadership&)> on_leadership = {};
  std::function<void(const Divergence&)> on_divergence = {};
  std::function<void(const absl::Status&)> on_halt = {};
  std::function<void(const absl::Status&)> on_error = {};
  std::vector<OwnMachine> machines = {};  // for their on_event
};

class Announcements {
 public:
  // `on_threw`: of each exception that can be an event, on this thread.
  // `fail`: within `catch (...)`, on the thread of the deadlines, if there was no memory to announce one.
  Announcements(const HostCallbacks& callbacks, const Clock& clock, HostCode::OnError on_threw, std::function<void()> fail);

  // An announcement of the client's, in order with those of deadlines().
  void announce(CallbackThread::Task task);
  ValidityWatch& deadlines() { return deadlines_; }
  // Runs a callback of an asynchronous call, on this thread.
  void run(absl::FunctionRef<void()> callback);

  void tell(const raft::Leadership& leadership);
  void tell(const ReplicaEvent& event);
  void tell(EngineEffects& effects);
  // Takes the halt out of the effects, which the engine says once; a later tell() announces it. Allocates nothing.
  void note_halt(EngineEffects& effects) noexcept;

  // The same function for the callback thread. An exception of it is reported.
  template <typename... Args>
  std::function<void(Args...)> guarded(std::string name, std::function<void(Args...)> call) {
    return host_code_.guarded(std::move(name), std::move(call));
  }
  bool run_here() const { return thread_.runs_here(); }                        // is the caller one of them?
  std::vector<std::string> warnings() const { return host_code_.warnings(); }  // of code that threw
  void host_threw(const absl::Status& why) { host_code_.threw(why); }          // what was caught elsewhere; any thread
  void stop();

 private:
  void threw(const absl::Status& why);

  HostCode host_code_;  // first: guards everything that is called
  const HostCode::OnError on_error_;
  const HostCode::OnError on_threw_;
  const std::function<void(const raft::Leadership&)> on_leadership_;
  const std::function<void(const Divergence&)> on_divergence_;
  const std::function<void(const absl::Status&)> on_halt_;
  CallbackThread thread_;  // before those that post to it
  EventRelay relay_;
  std::optional<EventFeed> feed_;  // none: not wanted
  DeadlineTimer deadlines_;
  absl::Status halt_;  // to be announced; OK: none. For the engine's thread
};

}  // namespace coordkit

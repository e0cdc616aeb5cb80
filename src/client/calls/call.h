// A call of a client from its entry until its answer (calls.h).
#pragma once

#include <cstdint>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "base/pool.h"
#include "client/calls/any_callback.h"
#include "client/locks/pending_acquire.h"
#include "coordkit/client/client_options.h"
#include "coordkit/client/handles.h"

namespace coordkit::client {

// The fate of the engine's ticket when the caller stops waiting.
enum class OnAbandon : uint8_t {
  Forget,   // a read or a write: the outcome is the caller's business
  Pursue,   // open, acquire: pursued until known, then undone
  Persist,  // release, close: continues until done
};

struct Call;

// The object that made a call, if it must act when the call is cancelled or ends.
class CallOwner {
 public:
  // True: the log decides whether the call ends; it is answered then.
  virtual bool cancel(Call& call) {
    static_cast<void>(call);
    return false;
  }
  virtual void abandoned(const Call& call) { static_cast<void>(call); }
  // True: its owner pursues the call's pending work.
  virtual bool pursues(const Call& call) {
    static_cast<void>(call);
    return false;
  }
  virtual void ended(CallId id, const Call& call) = 0;  // answered or not; its slot is freed afterwards

 protected:
  ~CallOwner() = default;
};

struct Call {
  using Start = absl::AnyInvocable<void(CallId, Now)>;

  [[no_unique_address]] AnyCallback callback;
  LaggingTime deadline = LaggingTime::max();  // valid once started
  Ticket ticket = {};                         // pending in the engine; zero: none
  CallOwner* owner = nullptr;                 // null: none
  PoolRef<PendingAcquire> acquire = {};       // null: the call acquires nothing
  OnAbandon on_abandon = OnAbandon::Forget;
  bool submitted = false;  // ever handed to the log
  bool cancelled = false;  // the caller asked to end it
};

}  // namespace coordkit::client

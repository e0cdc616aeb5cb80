// The calls of on_phase, of a session or of a lease of keys, as a stream that the last handle ends, or the call that ends the
// session or the lease.
#pragma once

#include <memory>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "coordkit/client/handles.h"
#include "service/calls/callback_stream.h"
#include "service/loop/turn_loop.h"

namespace coordkit {

class Phases {
 public:
  Phases() = default;  // of none
  // `on_phase` is called by way of this from now on. Empty: there is nothing to end.
  explicit Phases(absl::AnyInvocable<void(SessionPhase)>& on_phase) {
    if (!on_phase) return;
    auto listener = std::make_shared<Listener<SessionPhase>>(std::move(on_phase));
    on_phase = [listener](SessionPhase phase) { listener->tell(phase); };
    stream_ = std::move(listener);
  }

  void end() const {
    if (stream_) stream_->end();
  }
  // The last handle may be one that a call under way kept: a turn does not wait for a callback because of that.
  void last_handle_gone() const {
    if (!stream_) return;
    if (TurnLoop::any_runs_here()) {
      stream_->end_later();
    } else {
      stream_->end();
    }
  }

 private:
  std::shared_ptr<CallbackStream> stream_;
};

}  // namespace coordkit

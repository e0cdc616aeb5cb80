// State shared by the copies of one Session and its grants: the session closes when the last of them is gone.
#pragma once

#include <memory>
#include <utility>

#include "coordkit/client/ref.h"
#include "service/calls/call_runner.h"
#include "service/sessions/owner_tags.h"
#include "service/sessions/phases.h"

namespace coordkit {

class SessionHandle : public RefCounted {
 public:
  SessionHandle(std::shared_ptr<CallRunner> host, SessionRef state, Phases phases = {})
      : host_(std::move(host)), state_(std::move(state)), phases_(std::move(phases)) {}
  ~SessionHandle() {
    if (host_->forked()) return;
    phases_.last_handle_gone();
    if (state_->closed() || state_->phase() == SessionPhase::Lost) return;
    state_->invalidate();
    host_->post([state = state_](Client& client) { client.close(state, [](absl::Status) {}); });
  }

  CallRunner& host() const { return *host_; }
  const std::shared_ptr<CallRunner>& shared_host() const { return host_; }
  const SessionRef& state() const { return state_; }
  const Phases& phases() const { return phases_; }
  OwnerTags& owner_tags() { return owner_tags_; }
  LeadingTime now() const { return host_->clock().now().leading; }

 private:
  std::shared_ptr<CallRunner> host_;
  SessionRef state_;
  const Phases phases_;
  OwnerTags owner_tags_;
};

}  // namespace coordkit

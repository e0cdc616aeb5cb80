#include "coordkit/locks/fence.h"
#include "lock/fence_refusal.h"

namespace coordkit {

absl::Status FenceGate::admit(Token token, FenceMode mode) {
  const std::scoped_lock guard(mutex_);
  if (absl::Status refusal = judge(state_, token, mode); !refusal.ok()) return refusal;
  state_ = state_.after(token, mode);
  return absl::OkStatus();
}

FenceState FenceGate::state() const {
  const std::scoped_lock guard(mutex_);
  return state_;
}

}  // namespace coordkit

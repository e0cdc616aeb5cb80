// The refusal that all fence gates return: Fenced, with the newest token as the last word of its message.
#pragma once

#include "absl/status/status.h"
#include "coordkit/locks/fence.h"

namespace coordkit {

// OK, or the reason why this token is not admitted in this state.
absl::Status judge(const FenceState& state, Token token, FenceMode mode);

}  // namespace coordkit

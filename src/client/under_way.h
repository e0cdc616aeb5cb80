// What a client has asked the log for and not heard of yet, as far as it may outlive the call.
#pragma once

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "coordkit/client/options.h"
#include "coordkit/clock.h"
#include "coordkit/types.h"

namespace coordkit::client {

struct Open {
  LeadingTime reference;  // min: a gap came between
  Duration ttl{};
};

using OnPhase = std::shared_ptr<absl::AnyInvocable<void(SessionPhase)>>;

// What becomes of an acknowledged open, grant or resume.
struct Wish {
  std::string metadata;
  std::string secret;
  Duration give_up{};
  OnPhase on_phase;  // may be null
};

}  // namespace coordkit::client

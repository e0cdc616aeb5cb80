// What a client has asked the log for and not heard of yet, as far as it may outlive the call.
#pragma once

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "coordkit/client/options.h"
#include "coordkit/clock.h"
#include "coordkit/types.h"

namespace coordkit::client {

// An acquire from its submission until its final answer, which may outlive the call.
struct Flight {
  CallId call;
  SessionId session;
  std::string name;
  std::string owner_tag;
  Duration max_hold{};
  HoldTerms terms;
  uint64_t block = 0;    // of a sticky one: size of the block it asked for
  Duration delay{};      // likewise
  bool in_line = false;  // its line waits for it
  RequestId request;     // zero sequence until the engine tells
  bool cancel_posted = false;
  bool given_up = false;  // the engine stopped pursuing it with an unknown outcome: only a cancel can tell
};

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

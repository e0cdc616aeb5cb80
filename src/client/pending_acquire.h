// An acquire from its submission until its final answer, which may outlive the call: a lock, permits, an item or the
// like.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coordkit/client/handles.h"
#include "coordkit/client/options.h"

namespace coordkit::client {

struct PendingAcquire {
  CallId call;
  SessionRef session;
  std::string name;
  std::string owner_tag = {};
  Duration max_hold{};
  HoldTerms terms = {};
  uint64_t block = 0;                         // of a sticky one: size of the block it asked for
  Duration delay{};                           // of a sticky one (S-40)
  bool in_line = false;                       // its line waits for it
  bool of_lock = false;                       // answered with a hold; else with what was executed
  std::optional<std::string> proclaims = {};  // published instead, if its owner has the lock already
  RequestId request = {};                     // zero sequence until the engine assigns it
  bool cancel_posted = false;
  bool given_up = false;  // the engine stopped pursuing it with an unknown outcome: only a cancel can find out
};

}  // namespace coordkit::client

// A lock of S-58 as one session has it: who of its owners wants it here, and how it comes and goes in the log
// (sticky_lines.h). Exists while the session has the delegation or a call is in line for it. Touched by the client's owner
// thread alone; what other threads see of it is a Delegation.
#pragma once

#include <deque>

#include "client/delegations.h"
#include "coordkit/client/options.h"
#include "machine/lock_commands.h"

namespace coordkit::client {

struct Line {
  struct Waiting {
    CallId call;
    machine::Acquire body;
    LaggingTime until = LaggingTime::max();  // of a timed wait
  };
  DelegationRef lock;           // null: the session does not have it
  Token token;                  // of its hold in the log, which it had last
  Duration delay{};             // of the same (S-40): what a local hold may ask for at most
  std::deque<Waiting> waiting;  // in the order of their calls, each of another owner
  CallId fetching;              // an acquire of the first in line is under way in the log, or was when that one left
  bool refilling = false;       // a block is under way
  bool asked = false;           // somebody else wants it. Then:
  size_t grants_left = 0;       // how many of the line are served before it is given back,
  LaggingTime served_until{};   // and until when
};

}  // namespace coordkit::client

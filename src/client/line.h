// A sticky lock (S-58) as one session has it: which of its owners want it here, and how it comes and goes in the log
// (sticky_lines.h). Exists while the session has the delegation or a call is in line for it. Used by the client's owner
// thread alone; other threads see only its Delegation.
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
  Token token;                  // of its latest hold in the log
  Duration delay{};             // of the same (S-40): the most a local hold may ask for
  std::deque<Waiting> waiting;  // in call order, each of a different owner
  CallId fetching;              // an acquire of the first in line is pending in the log, or was when that one left
  bool refilling = false;       // a block was requested
  bool asked = false;           // another session wants it. Then:
  size_t grants_left = 0;       // how many of the line are served before it is released,
  LaggingTime served_until{};   // and until when
};

}  // namespace coordkit::client

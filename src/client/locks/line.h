// A sticky lock (S-58) in one session: the owners that want it here, and how it comes and goes in the log (sticky_lines.h).
// It exists while the session has the delegation or a call is in line for it. Only the client's owner thread uses it; other
// threads see only its Delegation.
#pragma once

#include <deque>

#include "client/locks/lent_delegations.h"
#include "coordkit/client/client_options.h"
#include "machine/locks/lock_commands.h"

namespace coordkit::client {

struct Line {
  struct Waiting {
    CallId call;
    machine::Acquire body;
    LaggingTime until = LaggingTime::max();  // of a timed wait
  };
  DelegationRef lock;           // null: the session does not have the delegation
  Token token;                  // of its latest hold in the log
  Duration delay{};             // of the same hold (S-40): the most for which a local hold may ask
  std::deque<Waiting> waiting;  // in call order, each of a different owner
  CallId fetching;              // an acquire of the first in line is pending in the log, or was when the first in line left
  bool refilling = false;       // a block was requested
  bool asked = false;           // another session wants it. Then:
  size_t grants_left = 0;       // how many of the line are served before it is released,
  LaggingTime served_until{};   // and until when
};

}  // namespace coordkit::client

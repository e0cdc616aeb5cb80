// How long a call waits: in the caller's terms, the machine's, and the time such a call gets (docs/semantics.md S-59).
#pragma once

#include "coordkit/client/client_options.h"
#include "machine/wait.h"

namespace coordkit::client {

inline machine::Wait wait_of(const LockWait& wait) {
  switch (wait.kind) {
    case LockWait::Kind::NoWait: return machine::Wait::none();
    case LockWait::Kind::Timed: return machine::Wait::timed(wait.timeout);
    case LockWait::Kind::Forever: return machine::Wait::forever();
  }
  return machine::Wait::none();
}

// How long a call without a deadline may last.
inline Duration timeout_of(const LockWait& wait, const ClientOptions& options) {
  if (wait.kind == LockWait::Kind::Forever) return Duration::max();
  if (wait.kind == LockWait::Kind::NoWait) return options.call_timeout;
  const Duration grace = 2 * options.election_timeout;
  return wait.timeout > Duration::max() - grace ? Duration::max() : wait.timeout + grace;
}

}  // namespace coordkit::client

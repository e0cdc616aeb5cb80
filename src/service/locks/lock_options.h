// Converts the options of door 1 to those of the client.
#pragma once

#include <utility>

#include "coordkit/session.h"

namespace coordkit {

inline AcquireOptions client_options(LockOptions&& options) {
  AcquireOptions out{.owner_tag = std::move(options.owner),
                     .texts = {.value = std::move(options.value)},
                     .max_hold = options.max_hold,
                     .mode = options.mode,
                     .reentrant = options.reentrant,
                     .delay = options.delay,
                     .no_deadlock_check = options.no_deadlock_check,
                     .sticky = options.sticky};
  if (options.timeout == kForever) {
    out.wait = LockWait::endless();
  } else if (options.timeout > Duration::zero()) {
    out.wait = LockWait::timed(options.timeout);
  }
  return out;
}

}  // namespace coordkit

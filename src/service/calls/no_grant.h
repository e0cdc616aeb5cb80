// The answer of a grant that holds nothing.
#pragma once

#include "coordkit/error.h"

namespace coordkit {

inline absl::Status no_grant() {
  return make_error(Reason::NotOwner, "this grant holds nothing: it was moved from, or no acquire() has given it");
}

}  // namespace coordkit

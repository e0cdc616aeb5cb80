// Says which limit an operation on keys exceeds. The machine's own check says only that it exceeds one (LimitExceeded).
#pragma once

#include "coordkit/keys/key_operations.h"
#include "machine/objection.h"

namespace coordkit::client {

// LimitExceeded with the limit and the caller's size; none: all sizes are within their limits.
machine::Objection check_limits(const RangeOperation& range);
machine::Objection check_limits(const PutOperation& put);
machine::Objection check_limits(const DeleteOperation& erase);
machine::Objection check_limits(const Transaction& transaction);

}  // namespace coordkit::client

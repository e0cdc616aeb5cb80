// Which limit an operation on keys is beyond. The machine's own check says only that one is (LimitExceeded).
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "coordkit/key_operations.h"

namespace coordkit::client {

// LimitExceeded with the limit and what the caller gave; OK: all sizes are within their limits.
absl::Status check_limits(const RangeOperation& range);
absl::Status check_limits(const PutOperation& put);
absl::Status check_limits(const DeleteOperation& erase);
absl::Status check_limits(const Transaction& transaction);

// `size` and `limit`: bytes.
absl::Status too_large(const char* what, size_t size, size_t limit);

}  // namespace coordkit::client

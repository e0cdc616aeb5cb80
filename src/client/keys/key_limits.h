// Says which limit an operation on keys exceeds. The machine's own check says only that it exceeds one (LimitExceeded).
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "coordkit/keys/key_operations.h"

namespace coordkit::client {

// LimitExceeded with the limit and the caller's size; OK: all sizes are within their limits.
absl::Status check_limits(const RangeOperation& range);
absl::Status check_limits(const PutOperation& put);
absl::Status check_limits(const DeleteOperation& erase);
absl::Status check_limits(const Transaction& transaction);

// `size` and `limit`: bytes.
absl::Status too_large(const char* what, size_t size, size_t limit);

}  // namespace coordkit::client

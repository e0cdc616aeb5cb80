// The conditions that a claim's row must meet by itself, whatever else there is.
#pragma once

#include "absl/status/status.h"
#include "lock/terms.h"

namespace coordkit::lock {

absl::Status check_row(const ClaimView& row);  // kDataLoss: no claim could have this row

}  // namespace coordkit::lock

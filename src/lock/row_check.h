// The conditions that a claim's row must meet alone, independent of all other rows.
#pragma once

#include "absl/status/status.h"
#include "lock/terms.h"

namespace coordkit::lock {

absl::Status check_row(const ClaimView& row);  // kDataLoss: no claim could have this row

}  // namespace coordkit::lock

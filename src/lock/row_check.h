// What must hold for a claim's row by itself, whatever else there is.
#pragma once

#include "absl/status/status.h"
#include "lock/terms.h"

namespace coordkit::lock {

absl::Status check_row(const ClaimView& row);  // kDataLoss: no claim could be like that

}  // namespace coordkit::lock

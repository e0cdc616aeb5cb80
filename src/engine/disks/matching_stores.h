// Whether a log and the checkpoint beside it can belong to one replica at one moment.
#pragma once

#include "absl/status/status.h"
#include "coordkit/ports/log_store.h"
#include "coordkit/ports/state_store.h"

namespace coordkit::engine {

// kDataLoss, with a sentence: one of the two has lost something, possibly votes and acknowledgements (FLT_D21).
absl::Status check_stores_match(const RecoveredLog& log, const CheckpointView& checkpoint);

// Whether a log without holes that does not start beyond this position contains it.
bool holds_entry(const RecoveredLog& log, Position position);

}  // namespace coordkit::engine

// A checkpoint made from scratch, for a data directory that no replica has started on yet.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "coordkit/ports/state_store.h"

namespace coordkit::storage {

// Makes the state directory and its file with these rows; durable when it returns. `whole`: CheckpointBatch::whole.
absl::Status write_checkpoint(const std::string& state_path, StoreId store, const CheckpointBatch& whole);

}  // namespace coordkit::storage

// A chunk is the rows of one range of keys on their way to a peer. These functions say whether it can be staged, and compute
// its sum. (The sums of values and states, implemented here too, are in coordkit/ports/state_store.h, because every store must
// compute the same.)
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "coordkit/ports/state_store.h"

namespace coordkit {

// Whether a chunk can be staged: its rows ascend, are inside the range, have keys of 1 to 64 bytes, and each has a value.
// kInvalidArgument otherwise. Chunks come from peers: check before staging.
absl::Status check_chunk(const KeyRange& range, std::span<const CheckpointBatch::Row> rows);

// The sum of a chunk: its range, then its rows in their order. It must have passed check_chunk.
uint64_t chunk_sum(const KeyRange& range, std::span<const CheckpointBatch::Row> rows);

}  // namespace coordkit

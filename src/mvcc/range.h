// One read of an interval with all its options (docs/semantics.md S-05 to S-09).
#pragma once

#include <cstddef>
#include <cstdint>

#include "coordkit/keys/key_operations.h"
#include "mvcc/store.h"

namespace coordkit::mvcc {

// The reason to refuse the operation in any state: EmptyKey, InvalidArgument, InvalidSort, LimitExceeded.
Refusal check(const RangeOperation& range);

// How much one answer may hold. An answer that is full is `cut`. In key order it can be continued after its last entry; in
// any other order it is useless.
struct RangeRoom {
  uint64_t entries = UINT64_MAX;
  size_t bytes = SIZE_MAX;
  bool counts = true;  // else a read in key order ends with its last entry, and `count` means nothing
};
struct Selection {
  RangeReply reply;
  bool cut = false;
};

// Compacted, FutureRevision: nothing is read. `range` has passed check().
Refusal select(const Store& store, const RangeOperation& range, const RangeRoom& room, Selection& out);

// Whether entries come in the store's order.
bool in_key_order(const RangeOperation& range);

}  // namespace coordkit::mvcc

// The options of a segmented log.
#pragma once

#include <cstdint>

#include "coordkit/types.h"

namespace coordkit::log {

struct LogOptions {
  StoreId store;
  GroupId group = kOnlyGroup;
  uint64_t segment_bytes = 64 << 20;       // of a prepared segment; multiple of a block
  uint64_t small_segment_bytes = 1 << 20;  // of one made on the spot: at open, or when no spare is ready
  size_t spares = 1;                       // kept ready, recycled ones included
  Index checkpointed = {};                 // open() may leave out the payloads of commands up to here (LogStore::checkpointed)
};

}  // namespace coordkit::log

// The newest feature level of this build: the kinds of entries, messages and rows that it can read
// (docs/upgrading.md).
//
// A cluster has a level of its own, in its log: nothing is written that needs a higher level. It
// begins at the lowest level of its founders. The leader raises it once every member supports a
// higher one. It never falls. A build that supports less than the cluster's level is refused: at
// its open by the state that it finds, later by the entry that it cannot read.
//
//   0   builds that do not say a level
//   1   the entry that raises the level; settings that all replicas must share, in hellos
//   2   a request that says which request of its origin must have been executed before it
//   3   log segments of version 2, in which the entries of one write share a record
//   4   rows of a checkpoint for single answers that are large
//   5   a replica that leaves the cluster leaves no stored answers in the state
//   6   requests of callers without a replica
//   7   names of such callers, in their registrations and requests, and permissions for them
#pragma once

#include <cstdint>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

inline constexpr uint64_t kFeatureLevel = 7;  // the last row of the table above

}  // namespace coordkit

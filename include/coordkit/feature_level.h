// The newest feature level of this build: what kinds of entries, messages and rows it can read (docs/upgrading.md).
//
// A cluster has a level of its own, in its log: nothing is written that needs a higher one. It begins at the lowest of its
// founders' and is raised by the leader once every member speaks more. It never sinks: a build that speaks less than the
// cluster's level is refused, at its open by the state that it finds, later by the entry that it cannot read.
//
//   0   builds that do not say a level
//   1   the entry that raises the level; what must be set alike, in hellos
//   2   a request that says which request of its origin must have been executed before it
//   3   log segments of version 2, in which the entries of one write share a record
//   4   rows of a checkpoint for single answers that are large
//   5   who leaves the cluster leaves no stored answers in the state
#pragma once

#include <cstdint>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

inline constexpr uint64_t kFeatureLevel = 5;

}  // namespace coordkit

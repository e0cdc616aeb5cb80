// The sum that travels with an entry of the log. The leader that appended the entry makes it once.
// It is verified wherever the entry is read, stored or received. XXH3-64, without a key. Pure
// functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "coordkit/export.h"
#include "coordkit/raft/entry.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// Computes the sum over all five. `payload` is the entry's; empty for a LeaderStart.
uint64_t content_sum(GroupId group, Term term, Index index, raft::EntryKind kind, std::string_view payload);

}  // namespace coordkit

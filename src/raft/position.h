// The order by which votes compare logs.
#pragma once

#include "coordkit/types.h"

namespace coordkit::raft {

// Thesis 3.6.1: the later term wins, then the higher index (regression R15). So the entries that an overtaken leader left
// behind are older than those that replaced them, however many there are.
constexpr bool newer(Position a, Position b) { return a.term != b.term ? a.term > b.term : a.index > b.index; }

}  // namespace coordkit::raft

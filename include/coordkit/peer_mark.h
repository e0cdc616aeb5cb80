// What a replica knows of a peer's disk, because the peer said what it may only say once it is durable there: a vote, an
// acknowledgement, a start. Kept for the peer's sake: a disk that was set back to an older state cannot know what it has
// forgotten, but those who heard of it do (docs/decisions/0009, faults FLT_P15 and FLT_D10).
#pragma once

#include <cstdint>

#include "coordkit/types.h"

namespace coordkit {

struct PeerMark {
  StoreId store;
  BootCounter boot;    // of the latest start it told of
  uint64_t start = 0;  // and the number drawn at that start: tells it from another one with the same boot counter
  Term term;           // it has voted or acknowledged in this term
  Index match;         // and has acknowledged the log of this term's leader up to here

  friend bool operator==(const PeerMark&, const PeerMark&) = default;
};

}  // namespace coordkit

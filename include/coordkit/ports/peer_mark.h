// A replica's knowledge of a peer's disk. It comes from messages that the peer may send only once
// they are durable there: a vote, an acknowledgement, a start. It is kept for the peer's sake. A
// disk that was set back to an older state cannot know what it has lost, but replicas that heard of
// it do (docs/decisions/0017, faults FLT_P15 and FLT_D10).
#pragma once

#include <cstdint>

#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

struct PeerMark {
  StoreId store;       // of the peer's disk; a mark is about this disk, whichever member has it
  BootCounter boot;    // of the latest start it reported
  uint64_t start = 0;  // and the number drawn at that start: tells it from another start with the
                       // same boot counter
  Term term;           // it has voted, acknowledged or led in this term
  ReplicaId vote;      // its vote in this term; zero: unknown
  Position match;      // it holds the log of this term's leader up to this entry; its term is zero
                       // where it is unknown

  friend bool operator==(const PeerMark&, const PeerMark&) = default;
};

}  // namespace coordkit

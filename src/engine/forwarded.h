// Requests that other replicas have handed to this one while it leads, until it has applied them. A copy that comes meanwhile
// would be an entry for nothing: its origin is behind, and finds the answer where the first one stands (S-41).
#pragma once

#include <deque>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "coordkit/raft/core.h"
#include "coordkit/state_machine.h"

namespace coordkit::engine {

class Forwarded {
 public:
  bool under_way(const RequestId& request) const { return under_way_.contains(request); }
  void proposed(Ticket ticket, const RequestId& request);
  void settled(const raft::ProposalFate& fate);
  void applied(Index through);
  void clear();  // another term: what was appended may be cut off

 private:
  absl::btree_set<RequestId> under_way_;
  absl::btree_map<Ticket, RequestId> unsettled_;      // their place in the log is not known yet
  std::deque<std::pair<Index, RequestId>> appended_;  // by index
};

}  // namespace coordkit::engine

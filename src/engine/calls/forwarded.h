// Requests that other replicas handed to this one while it leads, until it has applied them. A copy that arrives meanwhile
// would be a useless entry: its origin is behind, and finds the answer where the first one is (S-41).
#pragma once

#include <utility>

#include "base/flat_table.h"
#include "base/ring.h"
#include "coordkit/ports/state_machine.h"
#include "coordkit/raft/core.h"

namespace coordkit::engine {

class Forwarded {
 public:
  bool under_way(const RequestId& request) const { return under_way_.contains(request); }
  // `from`: the replica that handed it over.
  void proposed(Ticket ticket, const RequestId& request, ReplicaId from);
  // The gateway that last handed over a command of this remote, in this term; zero: none.
  ReplicaId gateway_of(ReplicaId remote) const;
  void decided(const raft::ProposalOutcome& outcome);
  void applied(Index through);
  void clear();  // another term: what was appended may be truncated

 private:
  FlatSet<RequestId> under_way_;
  FlatMap<ReplicaId, ReplicaId> gateways_;        // of remotes
  Ring<std::pair<Ticket, RequestId>> undecided_;  // by ticket: their place in the log is not known yet
  Ring<std::pair<Index, RequestId>> appended_;    // by index
};

}  // namespace coordkit::engine

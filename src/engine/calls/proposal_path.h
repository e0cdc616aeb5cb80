// The path of this replica's commands into the log: to the core where it leads, in messages to the leader elsewhere.
#pragma once

#include <vector>

#include "base/ring.h"
#include "engine/calls/proposals.h"
#include "engine/loop/condition.h"
#include "engine/loop/consensus.h"

namespace coordkit::engine {

// Hands commands to the leader, in messages of about the size of an append. flush() comes last.
class ToLeader {
 public:
  ToLeader(const EngineOptions& options, Turn& turn) : bytes_max_(options.raft.append_bytes_max), turn_(turn) {}
  void add(SharedBytes&& command);
  void flush();

 private:
  const size_t bytes_max_;
  Turn& turn_;
  Forward message_;
  size_t bytes_ = 0;  // of its commands
};

class ProposalPath {
 public:
  ProposalPath(const EngineOptions& options, const Origin& origin) : options_(options), calls_(options, origin) {}

  Proposals& calls() { return calls_; }
  const Proposals& calls() const { return calls_; }
  const Origin& origin() const { return calls_.origin(); }
  Load load() const { return {calls_.size(), calls_.bytes()}; }

  Proposals::Route route(const Consensus& consensus, const Router& applied) const;
  void propose(const Router& applied, Turn& turn);
  void decided(const raft::ProposalOutcome& outcome, LaggingTime now);
  void leadership_changed();

 private:
  void forward(Turn& turn);

  struct Proposed {
    Ticket ticket;
    Sequence sequence;
    Proposals::Handing handing = Proposals::Handing::First;
  };
  const EngineOptions& options_;
  Proposals calls_;
  std::vector<Proposals::Dispatch> dispatches_;  // of this turn
  Ring<Proposed> proposed_;                      // by ticket: their place in the log is not known yet
};

}  // namespace coordkit::engine

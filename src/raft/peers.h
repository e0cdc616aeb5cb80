// Everything that a leader knows about its peers. There is one Progress for each member of the configuration in force except
// the leader itself. Quorums of them yield the values that a majority has reached.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "coordkit/raft/core.h"
#include "raft/progress.h"

namespace coordkit::raft {

// Numbers append streams across terms: an answer that arrives in a later term must not match (regression R03).
class StreamNumbers {
 public:
  uint64_t next() { return ++last_; }

 private:
  uint64_t last_ = 0;
};

class Peers {
 public:
  explicit Peers(const Options& options) : options_(options) {}

  // The set of streams follows the configuration in force, which changes on append (thesis 4.1). New ones probe at `next`.
  void follow(const Configuration& configuration, Index next, StreamNumbers& streams, LaggingTime now);

  Progress* find(ReplicaId id);
  const Progress* find(ReplicaId id) const;
  Index match(ReplicaId id) const;  // zero: nothing matches, or it is no peer
  auto begin() { return peers_.begin(); }
  auto end() { return peers_.end(); }
  auto begin() const { return peers_.begin(); }
  auto end() const { return peers_.end(); }

  // The latest time that a majority has reached; our own time is `now`.
  LaggingTime quorum_time(const Configuration& configuration, LaggingTime Progress::*of_peer, LaggingTime now) const;
  uint64_t quorum_round(const Configuration& configuration, uint64_t own) const;

  bool answers(const Progress& peer, LaggingTime now) const;
  // The successor is the peer with the most of our log that answers, is suitable, and still votes after a change in progress.
  // Among equals it is the one with the lowest id. Zero: none.
  ReplicaId best_successor(const Configuration& configuration, LaggingTime now, absl::FunctionRef<bool(ReplicaId)> suits) const;

 private:
  const Options& options_;
  std::vector<Progress> peers_;  // by id
};

// Whether the replica votes now and after a change in progress.
bool votes_on(const Configuration& configuration, ReplicaId id);

}  // namespace coordkit::raft

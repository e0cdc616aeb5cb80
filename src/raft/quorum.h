// Majority arithmetic (thesis 3.4, 3.6.2; 4.3 for joint configurations). These are pure functions over a configuration. While
// a change is joint, a majority of each half must agree, counted separately. Learners never count. A configuration without
// voters agrees to nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "coordkit/raft/entry.h"

namespace coordkit::raft {

inline size_t majority(size_t voters) { return voters / 2 + 1; }

// Votes or leads: a voter of either half.
bool is_voter(const Configuration& configuration, ReplicaId id);
// Receives the log: a voter of either half or a learner.
bool is_member(const Configuration& configuration, ReplicaId id);
// All members but `self`, sorted, each once.
std::vector<ReplicaId> peers_of(const Configuration& configuration, ReplicaId self);

// Whether a majority of each half agrees. Counts.
bool quorum_agrees(const Configuration& configuration, absl::FunctionRef<bool(ReplicaId)> agrees);

// The largest value that a majority of each half has reached. Sorts; it and quorum_agrees check each other (INV_R09).
uint64_t quorum_value(const Configuration& configuration, absl::FunctionRef<uint64_t(ReplicaId)> value_of);

// The smallest value over all members, including learners.
uint64_t member_minimum(const Configuration& configuration, absl::FunctionRef<uint64_t(ReplicaId)> value_of);

// The voters that said yes, or that answered at all. It is a set, so an answer counts once however often it arrives
// (regression R12).
class VoteSet {
 public:
  void clear() { voters_.clear(); }
  void add(ReplicaId voter);
  bool contains(ReplicaId voter) const;

 private:
  std::vector<ReplicaId> voters_;  // sorted
};

}  // namespace coordkit::raft

// Do replicas that have applied equally far have equal states? The check in production (docs/decisions/0008, FLT_A08).
//
// After every entry whose index is a multiple of EngineOptions::digest_entries each voter puts the digest of its state into the
// log. So all replicas see the same digests in the same order, and each one judges only itself: if a majority of the
// voters agrees on another digest, they are right, and the replica is wrong. Losing a vote costs a comparison, never more.
// The tally is not part of the replicated state: a replica that starts behind an index takes no part in comparing it.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "absl/container/btree_map.h"
#include "coordkit/engine/engine.h"
#include "engine/apply/log_command.h"
#include "engine/apply/router.h"

namespace coordkit::engine {

class DivergenceCheck {
 public:
  static constexpr size_t kIndexesKept = 8;

  DivergenceCheck(ReplicaId self, Duration retry) : self_(self), retry_(retry) {}

  // In the order of the log. An answer: replicas differ, and the verdict about them has changed.
  std::optional<Divergence> note(const DigestNote& note, const raft::Configuration& configuration, ReplicaId leader);

  // Our own digest, to be handed to the leader now, until it comes back out of the log. Call only when a leader is known.
  std::optional<DigestVote> due(LaggingTime now);
  void leadership_changed() { hand_at_ = LaggingTime::min(); }
  LaggingTime next_deadline() const { return pending_ ? hand_at_ : LaggingTime::max(); }

  // A sentence while the newest comparison has found a difference; empty: none was found, or all agree again.
  const std::string& warning() const { return warning_; }

 private:
  struct Tally {
    uint64_t own = 0;
    absl::btree_map<ReplicaId, uint64_t> votes;
    std::optional<Divergence::Verdict> reported;
  };
  void sampled(Index index, uint64_t digest, const raft::Configuration& configuration);
  std::optional<Divergence::Verdict> judge(const Tally& tally, const Tally* before,
                                           const raft::Configuration& configuration, ReplicaId leader) const;

  ReplicaId self_;
  Duration retry_;
  absl::btree_map<Index, Tally> tallies_;  // the newest kIndexesKept with a digest of our own
  std::optional<DigestVote> pending_;      // not seen in the log yet
  LaggingTime hand_at_ = LaggingTime::min();
  std::string warning_;
};

// A leader whose log cannot be ours: it has another entry where one is committed here. The sentence names the leader, both
// positions and the page that helps.
std::string why_aside(const raft::Contradiction& found);

// Ends the turn in which that was found: the replica steps aside.
class ContradictingLeader : public std::runtime_error {
 public:
  explicit ContradictingLeader(const raft::Contradiction& found) : std::runtime_error(why_aside(found)) {}
};

}  // namespace coordkit::engine

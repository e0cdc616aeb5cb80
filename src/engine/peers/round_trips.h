// How long a question to a peer and its answer take, so that an operator learns where elections cannot work well: an election
// timeout should last ten round trips (FLT_N13). Measured on heartbeats and, where no leader emerges for that very reason, on
// pre-votes; neither waits for a disk. The shortest of the last few counts: a busy moment is not distance.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/ports/clock.h"
#include "coordkit/raft/raft_message.h"

namespace coordkit::engine {

// A question whose answer is timed.
struct TimedQuestion {
  Term term;  // zero: of a pre-vote, whose answer comes in the voter's own term
  uint64_t round = 0;
  friend bool operator==(const TimedQuestion&, const TimedQuestion&) = default;
};

class RoundTrips {
 public:
  explicit RoundTrips(Duration election_timeout) : election_timeout_(election_timeout) {}

  void sent(ReplicaId to, const raft::Message& message, LaggingTime now);
  void received(ReplicaId from, const raft::HeartbeatReply& reply, LaggingTime now) {
    answered(from, {reply.term, reply.round}, now);
  }
  void received(ReplicaId from, const raft::VoteReply& reply, LaggingTime now);
  template <typename Other>
  void received(ReplicaId, const Other&, LaggingTime) {}
  void forget(ReplicaId peer) { peers_.erase(peer); }

  // One sentence for each peer that is too far away.
  std::vector<std::string> warnings() const;

 private:
  static constexpr size_t kSamples = 16;
  struct Peer {
    TimedQuestion question;  // the timed one; round zero: none
    LaggingTime asked;
    std::array<Duration, kSamples> samples{};
    size_t taken = 0;
  };

  void asked(ReplicaId to, TimedQuestion question, LaggingTime now);
  void answered(ReplicaId from, TimedQuestion question, LaggingTime now);

  const Duration election_timeout_;
  absl::btree_map<ReplicaId, Peer> peers_;
};

}  // namespace coordkit::engine

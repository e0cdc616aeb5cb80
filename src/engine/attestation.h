// Is the disk that this replica was started from the one it last had? A disk that was set back to an older state, or that lost
// what it had called durable, has forgotten votes and acknowledgements that others rely on. So after a start from a log a
// replica asks its peers what they remember of it, and the core keeps silent (raft::Recovered::attested) until a majority of
// the members, itself counted, has answered. What a peer remembers and the disk does not hold ends in quarantine, also when
// the answer is a late one.
//
// Certain only if one of those that answer holds a mark of what was forgotten; docs/decisions/0009 says what that leaves out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "coordkit/engine.h"
#include "coordkit/message.h"

namespace coordkit::engine {

class Attestation {
 public:
  Attestation(const EngineOptions& options, const Origin& self) : options_(options), self_(self) {}

  // From here on peers are asked, and so told of this start. A blank disk has promised nothing yet and waits for nobody.
  enum class Disk : uint8_t { Blank, WithLog };
  void begin(Disk disk) {
    begun_ = true;
    waiting_ = disk == Disk::WithLog;
  }
  bool waiting() const { return waiting_; }
  void passed() { waiting_ = false; }

  // A connection was made: a peer that has not answered yet is asked.
  void connected(ReplicaId peer);
  void lost(ReplicaId peer) { connected_.erase(peer); }
  RecallRequest question() const { return {self_.store, self_.boot, options_.start}; }
  // Whom to ask now.
  std::vector<ReplicaId> due(LaggingTime now);
  LaggingTime next_deadline() const;

  // Counts an answer to this start. A sentence: the disk lacks what the peer remembers.
  std::optional<std::string> answered(ReplicaId from, const RecallReply& reply, Term term, Index last);
  bool answered(ReplicaId peer) const { return answered_.contains(peer); }

 private:
  const EngineOptions& options_;
  const Origin self_;
  bool begun_ = false;
  bool waiting_ = false;  // for a majority
  absl::btree_set<ReplicaId> connected_;
  absl::btree_set<ReplicaId> answered_;
  LaggingTime again_ = LaggingTime::max();
};

}  // namespace coordkit::engine

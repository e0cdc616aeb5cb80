// Is the disk that this replica started from the one it last had? A disk that was rolled back to an older state, or lost
// what it had called durable, has forgotten votes and acknowledgements that others rely on. So after a start from a log a
// replica asks its peers what they remember of it, and the core keeps silent (raft::Recovered::rollback_checked) until a
// majority of the members, including itself, has answered. So does one that gave up a genesis and was given another: its disk
// may have been set back to the former one. Anything that a peer remembers and the disk lacks ends in quarantine, even if the
// answer is a late one. Its log may be so old that it names replicas that are gone: answers say who the members are
// (docs/decisions/0036).
//
// A later term on the disk is proof by itself: everything said in an earlier term was on the disk before it. Within one term it
// takes the vote and the very entry. A longer log proves nothing: the first append of a term may cut an older term's tail and
// leave the log shorter than it was. docs/safety.md has the proof, docs/decisions/0017 what is left out.
//
// One member may lie (FLT_S12). A claim that is out of all reach is not believed. Any other one counts until its author takes
// it back, or another disk has the place of its author.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "coordkit/engine/engine.h"
#include "coordkit/engine/engine_message.h"

namespace coordkit::engine {

class RollbackCheck {
 public:
  RollbackCheck(const EngineOptions& options, const Origin& self) : options_(options), self_(self) {}

  // From here on peers are asked, and so learn of this start. A disk without a history has promised nothing, and the replica
  // waits for no answer.
  enum class Disk : uint8_t { Blank, WithHistory };
  void begin(Disk disk) {
    begun_ = true;
    waiting_ = disk == Disk::WithHistory;
  }
  bool waiting() const { return waiting_; }
  void passed() { waiting_ = false; }

  // A connection was made: a peer that has not answered yet is asked.
  void connected(ReplicaId peer);
  // Its answer goes with it: only a connected peer counts, and it is asked again.
  void lost(ReplicaId peer) {
    connected_.erase(peer);
    answered_.erase(peer);
  }
  RecallRequest question() const { return {self_.store, self_.boot, options_.start}; }
  // The peers to ask now. Without a leader also those that have answered, once in an election timeout: they may have learned of
  // newer members since.
  std::vector<ReplicaId> due(LaggingTime now, bool leaderless);
  LaggingTime next_deadline() const;

  // The content of the disk. The term of an entry is absent before the log's base: that is committed, and the same everywhere.
  struct Holds {
    raft::HardState hard_state;
    Position last;
    absl::FunctionRef<std::optional<Term>(Index)> term_at;
  };
  // Counts an answer to this start. A sentence: the disk lacks something that the peer remembers, and says so until it takes
  // that back.
  std::optional<std::string> answered(ReplicaId from, StoreId store, const RecallReply& reply, const Holds& disk);
  bool answered(ReplicaId peer) const { return answered_.contains(peer); }
  // A sentence, if a peer says that the disk lacks something. The peer's own disk must be the one that is named for it: by
  // the members in force here, whose entry is at `at`, or by newer ones of another peer that says so too.
  std::string claim(const raft::Configuration& members, Position at) const;
  // A sentence about a member whose answer cannot be true; empty: there is none.
  const std::string& disbelief() const { return disbelief_; }
  // A majority has answered, of these members or of settled ones as new as they are: a joint configuration here may be over.
  bool enough(const raft::Configuration& members, Position at) const;

 private:
  std::string lacks_of(ReplicaId from, const PeerMark& known, const Holds& disk) const;
  bool majority(const raft::Configuration& members) const;
  bool named_by_another_claim(ReplicaId peer, StoreId disk, Position at) const;

  const EngineOptions& options_;
  const Origin self_;
  bool begun_ = false;
  bool waiting_ = false;  // for a majority
  absl::btree_set<ReplicaId> connected_;
  absl::btree_map<ReplicaId, StoreId> answered_;
  struct Claim {
    StoreId by;
    std::string sentence;
    raft::SettledMembers settled;  // as its author told with it
  };
  absl::btree_map<ReplicaId, Claim> claims_;
  std::string disbelief_;
  raft::SettledMembers settled_;  // the newest that was told
  LaggingTime again_ = LaggingTime::max();
  LaggingTime all_again_ = LaggingTime::max();
};

}  // namespace coordkit::engine

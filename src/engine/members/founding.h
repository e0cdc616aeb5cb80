// How a cluster is initialized, and how a blank data directory learns of an existing cluster (docs/decisions/0002).
//
// A blank replica neither votes nor campaigns. A genesis is made when every listed member has said hello, all are blank and
// their lists are alike. The one with the lowest id makes it, syncs it, and offers it to the others; each syncs it before its
// first vote. A blank store named in the genesis adopts it at initialization. Later the leader invites the stores that its
// configuration in force names (decisions/0007), and any member those that settled members name. A store that is neither waits,
// and reports the reason.
//
// A genesis under which this replica has never voted gives way to another list (decisions/0050): the replica acts as a blank
// one, and its disk keeps the former genesis until another one takes its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/engine/engine.h"
#include "coordkit/raft/entry.h"
#include "engine/loop/write_gate.h"
#include "engine/members/member_lists.h"

namespace coordkit::engine {

inline constexpr uint64_t kTokenBaseMax = (uint64_t{1} << 63) - 2;  // of a genesis: one below the largest token

class Founding {
 public:
  Founding(const EngineOptions& options, StoreId self);

  // Facts. Each may make the genesis known; ask pending() afterwards.
  void hello(const Hello& hello);
  void offered(ReplicaId from, const GenesisOffer& offer);
  // At the start. True: this disk holds a genesis that gives way; there is no cluster yet.
  bool gives_way(const RecoveredLog& log);
  bool gave_one_up() const { return former_.has_value(); }

  // Writes the genesis as entry 1, once known.
  void bootstrap(WriteGate& writes, EngineEffects& effects);
  // The same, to be taken once.
  std::optional<raft::Genesis> take_pending();

  // Why nothing happens yet, as a sentence. Uninvited: a cluster exists, and waiting alone will not help.
  bool uninvited() const { return !pending_ && !taken_ && belonging() != nullptr; }
  const std::string& reason() const { return reason_; }
  // Uninvited for so long that it is not a matter of moments: at initialization or right after a start, an existing cluster and
  // its invitation are only some messages apart. From then on calls fail.
  bool gives_up(LaggingTime now);
  bool given_up() const { return uninvited() && given_up_; }
  LaggingTime next_deadline() const;

  // ---- for operators
  // Peers without a cluster that were started with another list, and those with one whose list has us.
  std::vector<DifferingList> differing_lists() const;
  // A sentence: the list is another one than that of the genesis here, which could not give way; empty: it is not.
  const std::string& kept() const { return kept_; }

 private:
  struct Seen {
    Hello hello;      // the newest
    StoreId belongs;  // that has shown a cluster, and was not started again without one; zero: none
    BootCounter belongs_since;
    std::string how;  // its list differs from ours
    bool parts = false;
  };
  void reconsider();
  bool listed(ReplicaId id) const;
  const Seen* belonging() const;  // a listed member of a cluster; null: none is known
  void offered_at_initialization(ReplicaId from, const raft::Genesis& genesis);
  bool may_take(const raft::Genesis& genesis) const;
  bool lists_us(const Hello& hello) const;
  bool joins(const Seen& peer) const;
  std::string why_uninvited(const Seen& member) const;
  std::string why_parted() const;

  const EngineOptions& options_;
  StoreId self_;
  absl::btree_map<ReplicaId, Seen> seen_;  // listed members, and others whose list has this replica
  std::optional<raft::Genesis> former_;    // on this disk, and given up
  std::optional<raft::Genesis> pending_;
  bool taken_ = false;
  std::string reason_;
  std::string kept_;
  std::optional<LaggingTime> uninvited_since_;
  bool given_up_ = false;
};

// The first entry of every cluster: index 1, term 1, the same bytes everywhere.
raft::Entry genesis_entry(GroupId group, const raft::Genesis& genesis);

}  // namespace coordkit::engine

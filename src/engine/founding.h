// How a cluster is initialized, and how a blank data directory learns of an existing cluster (docs/decisions/0002).
//
// A blank replica neither votes nor campaigns. When every listed member has said hello and all are blank, the one with the
// lowest id makes the genesis, syncs it, and offers it to the others; each syncs it before its first vote. A blank store
// named in the genesis adopts it at initialization; later the leader invites the stores that its configuration in force
// names (decisions/0007), and any member those that settled members name. A store that is neither waits, and reports what for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/engine.h"
#include "coordkit/raft/entry.h"
#include "engine/write_gate.h"

namespace coordkit::engine {

inline constexpr uint64_t kTokenBaseMax = (uint64_t{1} << 63) - 2;  // of a genesis: one below the largest token

class Founding {
 public:
  Founding(const EngineOptions& options, StoreId self);

  // Facts. Each may make the genesis known; ask pending() afterwards.
  void hello(const Hello& hello);
  void offered(ReplicaId from, const GenesisOffer& offer);

  // Writes the genesis as entry 1, once known.
  void bootstrap(WriteGate& writes, EngineEffects& effects);
  // The same, to be taken once.
  std::optional<raft::Genesis> take_pending();

  // Why nothing happens yet, as a sentence. Uninvited: a cluster exists, and waiting alone will not help.
  bool uninvited() const { return !pending_ && !taken_ && !cluster_name_.empty(); }
  const std::string& reason() const { return reason_; }
  // Uninvited for so long that it is not a matter of moments: at initialization or right after a start, an existing cluster and
  // its invitation are only some messages apart. From then on calls fail.
  bool gives_up(LaggingTime now);
  bool given_up() const { return given_up_; }
  LaggingTime next_deadline() const;

 private:
  void reconsider();
  bool listed(ReplicaId id) const;
  void offered_at_initialization(ReplicaId from, const raft::Genesis& genesis);

  const EngineOptions& options_;
  StoreId self_;
  absl::btree_map<ReplicaId, Hello> hellos_;  // of listed members, newest
  std::optional<raft::Genesis> pending_;
  bool taken_ = false;
  std::string cluster_name_;  // of a listed member that already belongs to a cluster; empty: none known
  std::string reason_;
  std::optional<LaggingTime> uninvited_since_;
  bool given_up_ = false;
};

// The first entry of every cluster: index 1, term 1, the same bytes everywhere.
raft::Entry genesis_entry(GroupId group, const raft::Genesis& genesis);

}  // namespace coordkit::engine

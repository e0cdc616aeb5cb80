// How a cluster is born, and how a blank data directory learns of a cluster that exists (docs/decisions/0002).
//
// A blank replica neither votes nor campaigns. When every listed member has said hello and all are blank, the one with the
// lowest id makes the genesis, syncs it, and offers it to the others; each syncs it before its first vote. A blank store
// that is named in an existing genesis adopts it; one that is not must be brought in through a membership change, and until
// then it stays in quarantine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/engine.h"
#include "coordkit/raft/entry.h"

namespace coordkit::engine {

class Founding {
 public:
  Founding(const EngineOptions& options, StoreId self);

  // Facts. Each may make the genesis known; ask pending() afterwards.
  void hello(const Hello& hello);
  void offered(ReplicaId from, const raft::Genesis& genesis);

  // The genesis to write as entry 1, once it is known; to be taken once.
  std::optional<raft::Genesis> take_pending();

  // Why nothing happens yet, as a sentence. Quarantine: waiting will not help.
  bool quarantined() const { return quarantined_; }
  const std::string& reason() const { return reason_; }

 private:
  void reconsider();
  void refuse(std::string reason);

  const EngineOptions& options_;
  StoreId self_;
  absl::btree_map<ReplicaId, Hello> hellos_;  // of listed members, newest
  std::optional<raft::Genesis> pending_;
  bool taken_ = false;
  bool quarantined_ = false;
  std::string reason_;
};

// The entry every cluster starts with: index 1, term 1, the same bytes everywhere.
raft::Entry genesis_entry(GroupId group, const raft::Genesis& genesis);

}  // namespace coordkit::engine

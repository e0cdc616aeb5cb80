// The connected replicas, and the capacity in which each peer is heard (decisions/0007). The configuration in force decides,
// from its append on, not the applied one: a peer that votes or leads by it must be heard before anything by it is committed.
//
// message_policy.h says what a capacity is, and what may be sent in it. Whether a peer belongs to the cluster is what the
// transport reports in Hello::cluster: the id of the cluster only if the other end has proved that it knows it.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/engine/engine_message.h"
#include "coordkit/ports/transport.h"
#include "coordkit/raft/entry.h"
#include "engine/peers/message_policy.h"

namespace coordkit::engine {

class Members {
 public:
  void connected(const Hello& hello);
  void lost(ReplicaId peer) { peers_.erase(peer); }
  // Another one is in force. Returns the peers that become members by it.
  std::vector<Hello> follow(const raft::Configuration& configuration, ClusterId cluster);
  bool goes_by(const raft::Configuration& configuration) const { return configuration_ == configuration; }

  Capacity capacity(ReplicaId peer) const;
  // `leader`: the one that we follow; `applied`: the configuration that is committed, as far as it is known here.
  bool admits(ReplicaId from, const Message& message, ReplicaId leader, const raft::Configuration& applied) const;
  const Hello* hello_of(ReplicaId peer) const;

  // Named members that are blank: they lack the genesis.
  std::vector<ReplicaId> uninitiated() const;
  bool any_uninitiated() const;
  std::vector<ReplicaId> of(Capacity capacity) const;
  bool any(Capacity capacity) const;
  // Those whose build supports less.
  std::vector<ReplicaId> below(uint64_t feature_level) const;

 private:
  struct Connected {
    Hello hello;
    Capacity capacity = Capacity::Uninvited;
    bool uninitiated() const { return capacity == Capacity::NewMember && !hello.cluster; }
  };
  bool belongs(const Hello& hello) const;
  Capacity judge(const Hello& hello) const;

  raft::Configuration configuration_;
  ClusterId cluster_;
  absl::btree_map<ReplicaId, Connected> peers_;
};

}  // namespace coordkit::engine

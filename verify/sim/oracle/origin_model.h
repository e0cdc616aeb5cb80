// Which requests count: each of them once, sent by a process that the log knows (docs/semantics.md).
#pragma once

#include <map>
#include <set>

#include "coordkit/raft/entry.h"
#include "engine/apply/log_command.h"

namespace coordkit::sim {

class OriginModel {
 public:
  void configure(const raft::Configuration& configuration);
  void enroll(const engine::RegisterOrigin& registration);
  // The time of a remote is over.
  void forget(ReplicaId remote, Generation generation, Index at);
  bool admit(const engine::Request& request);
  uint64_t came_back() const { return came_back_; }  // remotes that had been forgotten

 private:
  struct Known {
    StoreId store;
    BootCounter boot;
    Sequence retired{1};
    std::set<Sequence> executed;
  };

  std::map<ReplicaId, raft::Member> members_;
  std::map<ReplicaId, Known> origins_;
  std::set<ReplicaId> forgotten_;
  Index forgotten_at_;  // the last one
  uint64_t came_back_ = 0;
};

}  // namespace coordkit::sim

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
  bool admit(const engine::Request& request);

 private:
  struct Known {
    StoreId store;
    BootCounter boot;
    Sequence retired{1};
    std::set<Sequence> executed;
  };

  std::map<ReplicaId, raft::Member> members_;
  std::map<ReplicaId, Known> origins_;
};

}  // namespace coordkit::sim

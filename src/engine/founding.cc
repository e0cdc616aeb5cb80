#include "engine/founding.h"

#include <algorithm>

#include "base/entry_codec.h"
#include "base/sums.h"

namespace coordkit::engine {

raft::Entry genesis_entry(GroupId group, const raft::Genesis& genesis) {
  raft::Entry entry{Index(1), Term(1), raft::EntryKind::Genesis, 0, SharedBytes(encode(genesis))};
  entry.content_sum = content_sum(group, entry.term, entry.index, entry.kind, entry.payload.view());
  return entry;
}

Founding::Founding(const EngineOptions& options, StoreId self) : options_(options), self_(self) { reconsider(); }

void Founding::hello(const Hello& hello) {
  const bool listed =
      std::any_of(options_.members.begin(), options_.members.end(), [&](const Peer& peer) { return peer.id == hello.from; });
  if (!listed || hello.from == options_.raft.self) return;
  hellos_[hello.from] = hello;
  reconsider();
}

void Founding::offered(ReplicaId from, const raft::Genesis& genesis) {
  if (pending_ || taken_ || quarantined_) return;
  const auto& voters = genesis.configuration.voters;
  const auto self = std::find_if(voters.begin(), voters.end(), [&](auto& member) { return member.id == options_.raft.self; });
  const auto sender = std::find_if(voters.begin(), voters.end(), [&](auto& member) { return member.id == from; });
  if (sender == voters.end()) return;
  if (self == voters.end()) {
    return refuse("the cluster was founded without replica " + std::to_string(options_.raft.self.value()) +
                  ": add it through a membership change");
  }
  if (self->store != self_) {
    return refuse("the cluster knows replica " + std::to_string(options_.raft.self.value()) +
                  " with another data directory: restore that directory, or replace the member");
  }
  pending_ = genesis;
}

void Founding::refuse(std::string reason) {
  quarantined_ = true;
  reason_ = std::move(reason);
}

void Founding::reconsider() {
  if (pending_ || taken_ || quarantined_) return;
  std::string missing;
  bool all_blank = true;
  ReplicaId lowest = options_.raft.self;
  raft::Genesis genesis{options_.new_cluster, options_.token_base, {}};
  for (const Peer& peer : options_.members) {
    lowest = std::min(lowest, peer.id);
    if (peer.id == options_.raft.self) {
      genesis.configuration.voters.push_back({peer.id, self_, peer.address});
      continue;
    }
    const auto hello = hellos_.find(peer.id);
    if (hello == hellos_.end()) {
      missing += (missing.empty() ? "" : ", ") + std::to_string(peer.id.value());
      continue;
    }
    all_blank = all_blank && !hello->second.cluster;
    genesis.configuration.voters.push_back({peer.id, hello->second.store, peer.address});
  }
  if (!missing.empty()) {
    reason_ = "the cluster is born when every listed member was seen once; not seen yet: " + missing;
  } else if (!all_blank) {
    reason_ = "another member already belongs to a cluster; waiting for its offer";
  } else if (lowest != options_.raft.self) {
    reason_ = "all members are here; waiting for replica " + std::to_string(lowest.value()) + " to found the cluster";
  } else {
    auto& voters = genesis.configuration.voters;
    std::sort(voters.begin(), voters.end(), [](auto& a, auto& b) { return a.id < b.id; });
    pending_ = std::move(genesis);
    reason_.clear();
  }
}

std::optional<raft::Genesis> Founding::take_pending() {
  if (!pending_ || taken_) return std::nullopt;
  taken_ = true;
  reason_ = "writing the genesis";
  return std::exchange(pending_, std::nullopt);
}

}  // namespace coordkit::engine

#include "engine/founding.h"

#include <algorithm>

#include "base/sums.h"
#include "raft/entry_codec.h"

namespace coordkit::engine {

raft::Entry genesis_entry(GroupId group, const raft::Genesis& genesis) {
  raft::Entry entry{Index(1), Term(1), raft::EntryKind::Genesis, 0, SharedBytes(coordkit::encode(genesis))};
  entry.content_sum = content_sum(group, entry.term, entry.index, entry.kind, entry.payload.view());
  return entry;
}

Founding::Founding(const EngineOptions& options, StoreId self) : options_(options), self_(self) { reconsider(); }

bool Founding::listed(ReplicaId id) const {
  return std::any_of(options_.members.begin(), options_.members.end(), [id](const Peer& peer) { return peer.id == id; });
}

void Founding::hello(const Hello& hello) {
  if (!listed(hello.from) || hello.from == options_.raft.self) return;
  hellos_[hello.from] = hello;
  if (hello.cluster) cluster_name_ = "'" + hello.cluster_name + "'";
  reconsider();
}

void Founding::offered(ReplicaId from, const GenesisOffer& offer) {
  if (pending_ || taken_ || offer.genesis.token_base > kTokenBaseMax) return;
  if (!offer.invited) return offered_at_initialization(from, offer.genesis);
  if (offer.invited == self_) pending_ = offer.genesis;  // a quorum uses this genesis
}

// A replica never joins a new cluster that its own list does not describe: two founders with different lists must not share a
// voter.
void Founding::offered_at_initialization(ReplicaId from, const raft::Genesis& genesis) {
  const auto& voters = genesis.configuration.voters;
  const bool named = std::any_of(voters.begin(), voters.end(), [this](const raft::Member& member) {
    return member.id == options_.raft.self && member.store == self_;
  });
  const bool same_list = voters.size() == options_.members.size() &&
                         std::all_of(voters.begin(), voters.end(), [this](const auto& member) { return listed(member.id); });
  if (named && same_list && listed(from)) pending_ = genesis;
}

void Founding::reconsider() {
  if (pending_ || taken_) return;
  std::string missing;
  ReplicaId lowest = options_.raft.self;
  raft::Genesis genesis{options_.new_cluster, options_.token_base, {}, options_.feature_level};
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
    genesis.configuration.voters.push_back({peer.id, hello->second.store, peer.address});
    genesis.feature_level = std::min(genesis.feature_level, hello->second.feature_level);
  }
  if (uninvited()) {
    reason_ = "replica " + std::to_string(options_.raft.self.value()) + " is not a member of cluster " + cluster_name_ +
              " yet: add it with change_membership on a running replica (if its disk was wiped or exchanged, replace it)";
  } else if (!missing.empty()) {
    reason_ = "the cluster is born when every listed member was seen once; not seen yet: " + missing;
  } else if (lowest != options_.raft.self) {
    reason_ = "all members are here; waiting for replica " + std::to_string(lowest.value()) + " to found the cluster";
  } else {
    auto& voters = genesis.configuration.voters;
    std::sort(voters.begin(), voters.end(), [](auto& a, auto& b) { return a.id < b.id; });
    pending_ = std::move(genesis);
    reason_.clear();
  }
}

void Founding::bootstrap(WriteGate& writes, EngineEffects& effects) {
  if (writes.founding()) return;
  if (auto genesis = take_pending()) writes.bootstrap(options_.raft.group, *std::move(genesis), effects);
}

bool Founding::gives_up(LaggingTime now) {
  if (!uninvited()) return false;
  if (!uninvited_since_) uninvited_since_ = now;
  if (now < *uninvited_since_ + 2 * options_.raft.election_timeout) return false;
  return given_up_ = true;
}

LaggingTime Founding::next_deadline() const {
  if (!uninvited() || !uninvited_since_ || given_up_) return LaggingTime::max();
  return *uninvited_since_ + 2 * options_.raft.election_timeout;
}

std::optional<raft::Genesis> Founding::take_pending() {
  if (!pending_ || taken_) return std::nullopt;
  taken_ = true;
  reason_ = "writing the genesis";
  return std::exchange(pending_, std::nullopt);
}

}  // namespace coordkit::engine

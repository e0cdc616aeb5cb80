#include "engine/members/capacities.h"

#include <algorithm>

#include "raft/members/configuration_rules.h"

namespace coordkit::engine {

void Members::connected(const Hello& hello) { peers_[hello.from] = {hello, judge(hello)}; }

std::vector<Hello> Members::follow(const raft::Configuration& configuration, ClusterId cluster) {
  configuration_ = configuration;
  cluster_ = cluster;
  std::vector<Hello> admitted;
  for (auto& [id, peer] : peers_) {
    const Capacity before = peer.capacity;
    peer.capacity = judge(peer.hello);
    if (peer.capacity == Capacity::Member && before != Capacity::Member) admitted.push_back(peer.hello);
  }
  return admitted;
}

bool Members::belongs(const Hello& hello) const { return hello.cluster && hello.cluster == cluster_; }

Capacity Members::judge(const Hello& hello) const {
  const raft::Member* named = raft::member_of(configuration_, hello.from);
  if (named && named->store != hello.store) return Capacity::Impostor;
  if (!belongs(hello)) return named ? Capacity::NewMember : Capacity::Uninvited;
  return named ? Capacity::Member : Capacity::Acquaintance;
}

Capacity Members::capacity(ReplicaId peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? Capacity::Uninvited : found->second.capacity;
}

bool Members::admits(ReplicaId from, const Message& message, ReplicaId leader, const raft::Configuration& applied) const {
  const auto found = peers_.find(from);
  if (found == peers_.end()) return false;
  const auto& [hello, capacity] = found->second;
  const raft::Member* known = raft::member_of(applied, from);
  return may_say({.capacity = capacity,
                  .belongs = belongs(hello),
                  .leads = from == leader,
                  .leaving = known && known->store == hello.store},
                 message);
}

const Hello* Members::hello_of(ReplicaId peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? nullptr : &found->second.hello;
}

std::vector<ReplicaId> Members::uninitiated() const {
  std::vector<ReplicaId> found;
  for (const auto& [id, peer] : peers_) {
    if (peer.uninitiated()) found.push_back(id);
  }
  return found;
}

bool Members::any_uninitiated() const {
  return std::ranges::any_of(peers_, [](const auto& one) { return one.second.uninitiated(); });
}

bool Members::any(Capacity capacity) const {
  return std::ranges::any_of(peers_, [capacity](const auto& one) { return one.second.capacity == capacity; });
}

std::vector<ReplicaId> Members::below(uint64_t feature_level) const {
  std::vector<ReplicaId> found;
  for (const auto& [id, peer] : peers_) {
    if (peer.hello.feature_level < feature_level) found.push_back(id);
  }
  return found;
}

std::vector<ReplicaId> Members::of(Capacity capacity) const {
  std::vector<ReplicaId> found;
  for (const auto& [id, peer] : peers_) {
    if (peer.capacity == capacity) found.push_back(id);
  }
  return found;
}

}  // namespace coordkit::engine

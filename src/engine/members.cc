#include "engine/members.h"

#include "base/mutant.h"
#include "raft/membership.h"

namespace coordkit::engine {
namespace {

// What only a leader says.
bool is_leaders_word(const Message& message) {
  return std::holds_alternative<raft::AppendRequest>(message) || std::holds_alternative<raft::Heartbeat>(message) ||
         std::holds_alternative<ReadIndexReply>(message) || std::holds_alternative<RenewReply>(message) ||
         std::holds_alternative<ChangeReply>(message) || std::holds_alternative<TransferReply>(message) ||
         std::holds_alternative<StateOffer>(message) || std::holds_alternative<StateChunk>(message);
}

}  // namespace

void Members::connected(const Hello& hello) {
  Connected& peer = peers_[hello.from];
  const bool same = peer.hello.store == hello.store && peer.hello.boot == hello.boot;
  peer = {hello, judge(hello), hello.cluster || (same && peer.initiated)};
}

std::vector<Hello> Members::follow(const raft::Configuration& configuration, ClusterId cluster) {
  configuration_ = configuration;
  cluster_ = cluster;
  std::vector<Hello> admitted;
  for (auto& [id, peer] : peers_) {
    const Standing before = peer.standing;
    peer.standing = judge(peer.hello);
    if (peer.standing == Standing::Member && before != Standing::Member) admitted.push_back(peer.hello);
  }
  return admitted;
}

Members::Standing Members::judge(const Hello& hello) const {
  if (const raft::Member* named = raft::member_of(configuration_, hello.from)) {
    return named->store == hello.store || mutant(Mutant::ImpostorHeard) ? Standing::Member : Standing::Impostor;
  }
  return hello.cluster && hello.cluster == cluster_ ? Standing::Guest : Standing::Stranger;
}

Members::Standing Members::standing(ReplicaId peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? Standing::Stranger : found->second.standing;
}

bool Members::hears(ReplicaId from, const Message& message, ReplicaId leader) const {
  switch (standing(from)) {
    case Standing::Member:
    case Standing::Guest: return true;
    case Standing::Impostor:
      return hello_of(from)->cluster == cluster_ &&
             (std::holds_alternative<raft::AppendRequest>(message) || (from == leader && is_leaders_word(message)));
    case Standing::Stranger: break;
  }
  return false;
}

const Hello* Members::hello_of(ReplicaId peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? nullptr : &found->second.hello;
}

void Members::initiated(ReplicaId peer) {
  if (const auto found = peers_.find(peer); found != peers_.end()) found->second.initiated = true;
}

std::vector<ReplicaId> Members::uninitiated() const {
  std::vector<ReplicaId> found;
  for (const auto& [id, peer] : peers_) {
    if (peer.standing == Standing::Member && !peer.initiated) found.push_back(id);
  }
  return found;
}

std::vector<ReplicaId> Members::of(Standing standing) const {
  std::vector<ReplicaId> found;
  for (const auto& [id, peer] : peers_) {
    if (peer.standing == standing) found.push_back(id);
  }
  return found;
}

}  // namespace coordkit::engine

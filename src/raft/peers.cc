#include "raft/peers.h"

#include <algorithm>

#include "raft/members/configuration_rules.h"
#include "raft/quorum.h"

namespace coordkit::raft {

Progress* Peers::find(ReplicaId id) {
  const auto at = std::find_if(peers_.begin(), peers_.end(), [id](const Progress& peer) { return peer.peer == id; });
  return at == peers_.end() ? nullptr : &*at;
}
const Progress* Peers::find(ReplicaId id) const { return const_cast<Peers*>(this)->find(id); }

Index Peers::match(ReplicaId id) const {
  const Progress* peer = find(id);
  return peer ? peer->match : Index();
}

void Peers::follow(const Configuration& configuration, Index next, StreamNumbers& streams, LaggingTime now) {
  std::erase_if(peers_, [&](const Progress& peer) {
    const Member* member = member_of(configuration, peer.peer);
    return !member || member->store != peer.store;  // another disk has acknowledged nothing (regression R47)
  });
  for (const auto* members : {&configuration.voters, &configuration.outgoing, &configuration.learners}) {
    for (const Member& member : *members) {
      if (member.id == options_.self || find(member.id)) continue;
      const AppendWindow empty(options_.append_messages_in_flight, options_.append_bytes_in_flight);
      peers_.emplace_back(member.id, member.store, empty, next, now).stream = streams.next();
    }
  }
  std::sort(peers_.begin(), peers_.end(), [](const Progress& a, const Progress& b) { return a.peer < b.peer; });
}

LaggingTime Peers::quorum_time(const Configuration& configuration, LaggingTime Progress::*of_peer, LaggingTime now) const {
  const uint64_t time = quorum_value(configuration, [&](ReplicaId id) {
    const Progress* peer = find(id);
    const LaggingTime at = id == options_.self ? now : peer ? peer->*of_peer : LaggingTime();
    return static_cast<uint64_t>(at.time_since_epoch().count());
  });
  return LaggingTime(Duration(static_cast<Duration::rep>(time)));
}

uint64_t Peers::quorum_round(const Configuration& configuration, uint64_t own) const {
  return quorum_value(configuration, [&](ReplicaId id) {
    if (id == options_.self) return own;
    const Progress* peer = find(id);
    return peer ? peer->answered_round : 0;
  });
}

bool Peers::answers(const Progress& peer, LaggingTime now) const {
  return peer.contact > peer.lost && now - peer.contact < options_.election_timeout;
}

ReplicaId Peers::best_successor(const Configuration& configuration, LaggingTime now,
                                absl::FunctionRef<bool(ReplicaId)> suits) const {
  const Progress* best = nullptr;
  for (const Progress& peer : peers_) {
    if (!votes_on(configuration, peer.peer) || !peer.match || !suits(peer.peer) || !answers(peer, now)) continue;
    if (!best || peer.match > best->match) best = &peer;
  }
  return best ? best->peer : ReplicaId();
}

bool votes_on(const Configuration& configuration, ReplicaId id) {
  const auto& voters = configuration.voters;
  return std::any_of(voters.begin(), voters.end(), [id](const Member& voter) { return voter.id == id; });
}

}  // namespace coordkit::raft

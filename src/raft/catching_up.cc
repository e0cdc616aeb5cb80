#include "raft/catching_up.h"

#include <algorithm>

#include "raft/quorum.h"

namespace coordkit::raft {
namespace {

// As far as we know the peer lacks the entries after this one. A peer that receives a state lacks the entries after the state.
Index lacks_after(const Progress& peer, const Log& log) {
  switch (peer.state) {
    case Progress::State::Probe: return peer.next.previous();
    case Progress::State::Stream: return peer.match;
    case Progress::State::Behind: return log.retention().pinned();
  }
  return {};
}

// The peer may still ask for the entries after this one. A probe begins at a guess; after a Conflict it begins at the end of
// the peer's log. The peer's entries there may be another leader's, or not on its disk yet. So only the entries that it
// acknowledged count. If it has not answered this leader, the previous leader's word holds.
Index needed_by(const Progress& peer) {
  if (peer.state == Progress::State::Stream) return peer.match;
  return peer.heard ? std::min(peer.stored, peer.next.previous()) : peer.next.previous();
}

bool probed(const Progress& peer) { return peer.state == Progress::State::Probe; }

}  // namespace

Duration catch_up_grace(const Options& options) {
  constexpr int kTimeouts = 8;
  return kTimeouts * options.election_timeout;
}

// The log is kept for peers that catch up. Otherwise they never would: entries that arrive while one chunk is sent would be
// gone when needed. Every replica keeps it, since the next leader must continue. A new leader first asks each peer for the
// entries that it needs.
//
// The result is never zero, because zero in a heartbeat means that no peer needs anything. Every member has the genesis.
Index CatchingUp::needed() const {
  Index lowest = log_.needed_as_follower();
  const bool knows = now_ - since_ >= catch_up_grace(options_) || std::none_of(peers_.begin(), peers_.end(), probed);
  if (knows) lowest = log_.retention().pinned() ? log_.retention().pinned() : log_.last().index;
  for (const Progress& peer : peers_) {
    if (catches_up(peer) && peer.state != Progress::State::Behind) lowest = std::min(lowest, needed_by(peer));
  }
  return std::max(lowest, Index(1));
}

// A peer that is behind and waits for a state does not hold up proposals until the state is being sent.
bool CatchingUp::holds_back() const {
  if (options_.follower_lag_bytes_max == 0) return false;
  return std::any_of(peers_.begin(), peers_.end(), [&](const Progress& peer) {
    const bool here = is_voter(log_.configuration(), peer.peer) && now_ - peer.contact < 2 * options_.election_timeout;
    const Index from = lacks_after(peer, log_);
    return here && from && log_.retention().lag_exceeded_after(from);
  });
}

std::vector<ReplicaId> CatchingUp::behind() const {
  std::vector<ReplicaId> found;
  for (const Progress& peer : peers_) {
    if (peer.state == Progress::State::Behind && catches_up(peer)) found.push_back(peer.peer);
  }
  return found;
}

}  // namespace coordkit::raft

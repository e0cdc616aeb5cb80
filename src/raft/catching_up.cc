// What peers lack, as their leader sees it: how much of the log must stay for them, who makes new commands wait, and who can
// only be helped by a state (thesis 5).
//
// A peer whose next entry is no longer in our log is Behind: it gets heartbeats, no appends, and counts for the quorum as it
// did. How the state travels is the host's business (docs/decisions/0006); it comes back here as a match at or above our base.
#include <algorithm>

#include "raft/leading.h"
#include "raft/quorum.h"

namespace coordkit::raft {
namespace {

// Entries after this are on their way to the peer, or will be asked for by it: of one that is sent a state those after it.
Index needed_by(const Progress& peer, const Log& log) {
  switch (peer.state) {
    case Progress::State::Probe: return peer.next.previous();
    case Progress::State::Stream: return peer.match;
    case Progress::State::Behind: return log.retention().pinned();
  }
  return {};
}

bool probed(const Progress& peer) { return peer.state == Progress::State::Probe; }

}  // namespace

Duration catch_up_grace(const Options& options) {
  constexpr int kTimeouts = 8;
  return kTimeouts * options.election_timeout;
}

// The log stays for peers that catch up, or it would never end: what comes while one is served is gone when it asks for that.
// Every replica keeps it, because the next leader has to go on with it; a new one has to ask first who needs what.
Index Leading::needed(const Log& log, LaggingTime now) const {
  Index lowest = log.needed_as_follower();
  const bool knows = now - since_ >= catch_up_grace(options_) || std::none_of(peers_.begin(), peers_.end(), probed);
  if (knows) lowest = log.retention().pinned() ? log.retention().pinned() : log.last().index;
  for (const Progress& peer : peers_) {
    if (catches_up(peer, now) && peer.state != Progress::State::Behind) lowest = std::min(lowest, needed_by(peer, log));
  }
  return lowest;
}

// One that is behind and waits for a state holds up no proposals before it is sent one.
bool Leading::holds_back(const Log& log, LaggingTime now) const {
  if (options_.follower_lag_bytes_max == 0) return false;
  return std::any_of(peers_.begin(), peers_.end(), [&](const Progress& peer) {
    const bool here = is_voter(log.configuration(), peer.peer) && now - peer.contact < 2 * options_.election_timeout;
    const Index from = needed_by(peer, log);
    return here && from && log.retention().lag_exceeded_after(from);
  });
}

std::vector<ReplicaId> Leading::behind(LaggingTime now) const {
  std::vector<ReplicaId> found;
  for (const Progress& peer : peers_) {
    if (peer.state == Progress::State::Behind && catches_up(peer, now)) found.push_back(peer.peer);
  }
  return found;
}

}  // namespace coordkit::raft

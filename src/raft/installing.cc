// A state instead of entries (thesis 5): the leader notices who needs one, the follower's log goes on from one.
//
// A peer whose next entry is no longer in our log is Behind: it gets heartbeats, no appends, and counts for the quorum as it
// did. How the state travels is the host's business (docs/decisions/0006); it comes back here as a match at or above our base.
#include <algorithm>

#include "base/check.h"
#include "base/mutant.h"
#include "raft/core_impl.h"
#include "raft/quorum.h"

namespace coordkit::raft {

// ---- the leader's side

void Core::Impl::on(const Pin& pin) { pinned_ = pin.after; }

// Who was heard so lately may be at work on what it lacks: a broken connection has come back by then, a new leader has heard
// everybody.
Duration Core::Impl::catch_up_grace() const {
  constexpr int kTimeouts = 8;
  return kTimeouts * options_.election_timeout;
}

// Entries after this are on their way to the peer, or will be asked for by it: of one that is sent a state those after it.
Index Core::Impl::needed_by(const Progress& peer) const {
  switch (peer.state) {
    case Progress::State::Probe: return peer.next.previous();
    case Progress::State::Stream: return peer.match;
    case Progress::State::Behind: return pinned_;
  }
  return {};
}

// The log stays for whoever catches up, or it would never end: what comes while one is served is gone when it asks for that.
// Everybody keeps it, because the next leader has to go on with it; a new one has to ask first who needs what.
Index Core::Impl::needed() const {
  Index lowest = pinned_ ? pinned_ : log_.last().index;
  const auto probed = [](const Progress& peer) { return peer.state == Progress::State::Probe; };
  const bool knows = leads() && (now_ - led_since_ >= catch_up_grace() || std::none_of(peers_.begin(), peers_.end(), probed));
  if (!knows && told_needed_) lowest = std::min(lowest, told_needed_);
  if (!leads()) return lowest;
  for (const Progress& peer : peers_) {
    if (answers(peer) && peer.state != Progress::State::Behind) lowest = std::min(lowest, needed_by(peer));
  }
  return lowest;
}

// One that is behind and waits for a state holds nobody back before it is sent one.
bool Core::Impl::holds_back() const {
  if (!leads()) return told_to_hold_back_;
  if (options_.follower_lag_bytes_max == 0) return false;
  return std::any_of(peers_.begin(), peers_.end(), [&](const Progress& peer) {
    const bool here = is_voter(configuration(), peer.peer) && now_ - peer.contact < 2 * options_.election_timeout;
    const Index from = needed_by(peer);
    return here && from && lag_.reached_after(from);
  });
}

// Whether a peer can be served from the log at all.
void Core::Impl::leave_behind(Progress& peer) {
  if (peer.next <= log_.base().index) peer.fall_behind();
}

// With each heartbeat that is watched an empty append at our base. It tells a peer that does not follow us yet who leads,
// and finds out what the peer has got elsewhere or kept over a restart; a Conflict says nothing new.
void Core::Impl::greet(const Progress& peer) {
  send(peer.peer, WriteNumber(),
       AppendRequest{.term = term(),
                     .stream = peer.stream,
                     .previous = log_.base(),
                     .commit = log_.base().index,
                     .everyone_has = everyone_has_,
                     .round = round_});
}

std::vector<ReplicaId> Core::Impl::behind() const {
  std::vector<ReplicaId> found;
  for (const Progress& peer : peers_) {
    if (leads() && peer.state == Progress::State::Behind && answers(peer)) found.push_back(peer.peer);
  }
  return found;
}

// ---- the side that is sent one

// What was installed is committed, so it is the prefix of the log of every leader from that term on (thesis 3.6.3): ours up
// to there is the leader's, whatever it was. The state is durable already, so its position counts as durable. Hard state is
// not touched, unless the term is news. Any role but leader may have to start its log again (regression R18); the log of a
// leader of that term or a later one holds all that is committed, so it never has to (INV_R06).
void Core::Impl::on(const Installed& installed) {
  const Position at = installed.at;
  if (at.index <= log_.base().index) return;
  if (mutant(Mutant::CandidateTakesNoState) && leadership_.role != Role::Follower) return;
  if (installed.term > term()) {
    request({Role::Follower, installed.term, ReplicaId()});
    settle();
  }
  const bool kept = log_.term_at(at.index) == at.term;
  COORDKIT_CHECK_MSG(kept || !leads(), "INV_R06 a leader lacks what was committed");
  COORDKIT_CHECK_MSG(kept || at.index > commit_, "INV_R07 another entry was committed at an installed position");
  if (!kept) start_log_after(installed);
  verified_ = std::max(verified_, at.index);
  if (at.index > checkpoint_.index) checkpoint_ = at;
  raise_commit(at.index);
  applied_ = std::max(applied_, at.index);
}

// Votes asked for with the old log would be votes for another one.
void Core::Impl::start_log_after(const Installed& installed) {
  log_.reset(installed.at, installed.configuration, installed.configuration_index);
  disk_.reset(installed.at);
  retained_.reset(installed.at.index);
  pinnable_.reset(installed.at.index);
  lag_.reset(installed.at.index);
  everyone_has_ = installed.at.index;
  reads_.clear();
  read_requests_.clear();
  apply_window_.clear();
  apply_wants_.reset();
  quiet_ = false;
  if (change_ && change_->at.index <= installed.at.index) {
    const bool possible = installed.configuration_index >= change_->at.index;
    changes_.push_back({change_->ticket, possible ? ChangeFate::Kind::Unknown : ChangeFate::Kind::Overwritten, Index()});
    change_.reset();
  }
  if (leadership_.role != Role::Follower) request({Role::Follower, term(), ReplicaId()});
}

}  // namespace coordkit::raft

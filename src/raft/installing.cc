// A state instead of entries (thesis 5): the leader notices who needs one, the follower's log goes on from one.
//
// A peer whose next entry is no longer in our log is Behind: it gets heartbeats, no appends, and counts for the quorum as it
// did. How the state travels is the host's business (docs/decisions/0006); it comes back here as a match at or above our base.
#include <algorithm>

#include "base/check.h"
#include "base/mutant.h"
#include "raft/core_impl.h"

namespace coordkit::raft {

// ---- the leader's side

void Core::Impl::on(const Pin& pin) { pinned_ = pin.after; }

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
    if (leads() && peer.state == Progress::State::Behind) found.push_back(peer.peer);
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

// The leader's view of the entries that peers lack. It decides how much of the log must be kept for them, and which of them
// slow down new commands. It also knows the peers that only a state can help (thesis 5). These are decisions on a view of its
// leadership; nothing is changed here.
//
// A peer whose next entry is no longer in our log is Behind. It gets heartbeats but no appends, and counts for the quorum as
// before. How the state travels is the host's business (docs/decisions/0006). It comes back here as a match at or above our
// base.
#pragma once

#include <vector>

#include "raft/log/raft_log.h"
#include "raft/peers.h"

namespace coordkit::raft {

// A peer heard from this recently may still be catching up. By then a broken connection is restored, and a new leader has
// heard from everyone.
Duration catch_up_grace(const Options& options);

class CatchingUp {
 public:
  // `since`: the beginning of the leadership.
  CatchingUp(const Options& options, const Peers& peers, LaggingTime since, const Log& log, LaggingTime now)
      : options_(options), peers_(peers), since_(since), log_(log), now_(now) {}

  Index needed() const;     // entries after this one must stay
  bool holds_back() const;  // a voter lags too far: no new commands meanwhile
  std::vector<ReplicaId> behind() const;

 private:
  bool catches_up(const Progress& peer) const { return now_ - peer.contact < catch_up_grace(options_); }

  const Options& options_;
  const Peers& peers_;
  const LaggingTime since_;
  const Log& log_;
  const LaggingTime now_;
};

}  // namespace coordkit::raft

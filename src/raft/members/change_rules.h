// Decides which membership changes a leader accepts, and when one is complete (thesis 4.1, 4.2). These are decisions on a
// view of its leadership; nothing is changed here.
#pragma once

#include <optional>

#include "raft/log/raft_log.h"
#include "raft/peers.h"

namespace coordkit::raft {

class ChangeRules {
 public:
  // `own_committed`: an entry of the leader's own term is committed.
  ChangeRules(const Options& options, const Peers& peers, const Log& log, bool own_committed, LaggingTime now)
      : options_(options), peers_(peers), log_(log), own_committed_(own_committed), now_(now) {}

  // Why no change at all is accepted now.
  std::optional<ChangeOutcome::Kind> refuses(Index expected) const;
  // Why this change is refused: a quorum might not answer afterwards.
  std::optional<ChangeOutcome::Kind> endangered_by(const Configuration& next) const;
  bool decided() const;  // the configuration in force is committed

 private:
  const Options& options_;
  const Peers& peers_;
  const Log& log_;
  const bool own_committed_;
  const LaggingTime now_;
};

}  // namespace coordkit::raft

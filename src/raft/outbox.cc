#include "raft/outbox.h"

#include <optional>
#include <utility>

#include "base/check.h"
#include "raft/log/raft_log.h"

namespace coordkit::raft {

void Outbox::move_to(Effects& effects, const Log& log) {
  for (const Send& one : sends) {
    COORDKIT_CHECK_MSG(one.after < log.disk().next_write(), "INV_R17 waits for a write that may never be");
  }
  effects.sends.swap(sends);
  effects.outcomes.swap(outcomes);
  effects.confirmations.swap(confirmations);
  effects.transfers.swap(transfers);
  effects.changes.swap(changes);
  effects.contradiction = std::exchange(contradiction, std::nullopt);
  COORDKIT_CHECK_MSG(log.commit() >= commit_reported, "INV_R03 commit");
  effects.commit = commit_reported = log.commit();
}

}  // namespace coordkit::raft

// A membership change that this replica accepted as leader of some term. A replica can tell the outcome from its own log,
// whether it still leads or not (regression R45).
#pragma once

#include <optional>

#include "raft/log/raft_log.h"
#include "raft/outbox.h"

namespace coordkit::raft {

class PendingChange {
 public:
  void begin(Ticket ticket, Position at) { change_ = Change{ticket, at}; }
  void judge(const Log& log, Outbox& out);
  // The log was restarted by an installed state.
  void log_replaced(const Installed& installed, Outbox& out);

 private:
  struct Change {
    Ticket ticket;
    Position at;
  };
  void end(ChangeOutcome::Kind kind, Index configuration, Outbox& out);

  std::optional<Change> change_;
};

}  // namespace coordkit::raft

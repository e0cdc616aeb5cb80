// Continuing the log from a state (thesis 5) that replaces entries which are gone everywhere else.
#include <algorithm>

#include "base/check.h"
#include "raft/core_impl.h"

namespace coordkit::raft {

// An installed state is committed, so it is the prefix of the log of every leader from that term on (thesis 3.6.3). Our log
// up to there is the leader's, whatever it was. The state is durable already, so its position counts as durable. Hard state
// is not touched, unless the term is new. Any role but leader may have to start its log again (regression R18). The log of a
// leader of that term or a later one holds all that is committed, so a leader never has to (INV_R06).
void Core::Impl::on(const Installed& installed) {
  const Position at = installed.at;
  if (at.index <= log_.base().index) return;
  if (installed.term > log_.term()) {
    roles_.step_down(installed.term);
    finish_step();
  }
  const bool kept = log_.term_at(at.index) == at.term;
  COORDKIT_CHECK_MSG(kept || !leading_, "INV_R06 a leader lacks what was committed");
  COORDKIT_CHECK_MSG(kept || at.index > log_.commit(), "INV_R07 another entry was committed at an installed position");
  if (!kept) start_log_after(installed);
  news_.matches_through(at.index);
  log_.retention().installed(at);
  log_.raise_commit(at.index);
  log_.raise_applied(at.index);
}

// Votes requested with the old log must not count for the new one.
void Core::Impl::start_log_after(const Installed& installed) {
  log_.start_after(installed);
  reader_.clear();
  news_.removed = false;
  change_.log_replaced(installed, outbox_);
  if (roles_.role() != Role::Follower) roles_.step_down(log_.term());
}

}  // namespace coordkit::raft

#include "raft/members/pending_change.h"

namespace coordkit::raft {

void PendingChange::judge(const Log& log, Outbox& out) {
  if (!change_) return;
  const Index at = change_->at.index;
  const Index commit = log.commit();
  const bool lost = at > log.last().index || (at > commit && log.term_at(at) != change_->at.term);
  const bool replaced = at <= commit && at > log.base().index && log.term_at(at) != change_->at.term;
  if (lost || replaced) return end(ChangeOutcome::Kind::Overwritten, Index(), out);
  const auto& [position, committed] = log.cache().configuration_at(log.commit());
  if (at <= position.index && committed.outgoing.empty()) end(ChangeOutcome::Kind::Committed, position.index, out);
}

void PendingChange::log_replaced(const Installed& installed, Outbox& out) {
  if (!change_ || change_->at.index > installed.at.index) return;
  const bool possible = installed.configuration_index >= change_->at.index;
  end(possible ? ChangeOutcome::Kind::Unknown : ChangeOutcome::Kind::Overwritten, Index(), out);
}

void PendingChange::end(ChangeOutcome::Kind kind, Index configuration, Outbox& out) {
  out.changes.push_back({change_->ticket, kind, configuration});
  change_.reset();
}

}  // namespace coordkit::raft

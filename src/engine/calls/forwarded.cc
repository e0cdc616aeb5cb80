#include "engine/calls/forwarded.h"

namespace coordkit::engine {

void Forwarded::proposed(Ticket ticket, const RequestId& request) {
  under_way_.insert(request);
  undecided_.push_back({ticket, request});
}

void Forwarded::decided(const raft::ProposalOutcome& outcome) {
  if (undecided_.empty() || undecided_.front().first != outcome.ticket) return;  // they are decided in order
  const RequestId request = undecided_.take_front().second;
  if (outcome.kind == raft::ProposalOutcome::Kind::Appended) {
    appended_.push_back({outcome.at.index, request});
  } else {
    under_way_.erase(request);
  }
}

void Forwarded::applied(Index through) {
  for (; !appended_.empty() && appended_.front().first <= through; appended_.pop_front()) {
    under_way_.erase(appended_.front().second);
  }
}

void Forwarded::clear() {
  under_way_.clear();
  undecided_.clear();
  appended_.clear();
}

}  // namespace coordkit::engine

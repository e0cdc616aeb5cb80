#include "engine/forwarded.h"

namespace coordkit::engine {

void Forwarded::proposed(Ticket ticket, const RequestId& request) {
  under_way_.insert(request);
  unsettled_.emplace(ticket, request);
}

void Forwarded::settled(const raft::ProposalFate& fate) {
  const auto at = unsettled_.find(fate.ticket);
  if (at == unsettled_.end()) return;
  if (fate.kind == raft::ProposalFate::Kind::Appended) {
    appended_.emplace_back(fate.at.index, at->second);
  } else {
    under_way_.erase(at->second);
  }
  unsettled_.erase(at);
}

void Forwarded::applied(Index through) {
  for (; !appended_.empty() && appended_.front().first <= through; appended_.pop_front()) {
    under_way_.erase(appended_.front().second);
  }
}

void Forwarded::clear() {
  under_way_.clear();
  unsettled_.clear();
  appended_.clear();
}

}  // namespace coordkit::engine

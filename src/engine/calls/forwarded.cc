#include "engine/calls/forwarded.h"

namespace coordkit::engine {

void Forwarded::proposed(Ticket ticket, const RequestId& request, ReplicaId from) {
  under_way_.insert(request);
  if (is_remote(request.origin.replica)) gateways_.insert_or_assign(request.origin.replica, from);
  undecided_.push_back({ticket, request});
}

ReplicaId Forwarded::gateway_of(ReplicaId remote) const {
  const auto found = gateways_.find(remote);
  return found == gateways_.end() ? ReplicaId() : found->second;
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
  gateways_.clear();
  undecided_.clear();
  appended_.clear();
}

}  // namespace coordkit::engine

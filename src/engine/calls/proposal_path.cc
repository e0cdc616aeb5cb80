#include "engine/calls/proposal_path.h"

#include <utility>

#include "coordkit/engine/wire.h"

namespace coordkit::engine {

Proposals::Route ProposalPath::route(const Consensus& consensus, const Router& applied) const {
  if (!consensus.knows_leader()) return Proposals::Route::NoLeader;
  return applied.origins().registered(origin()) ? Proposals::Route::Open : Proposals::Route::Unregistered;
}

void ProposalPath::propose(const Router& applied, Turn& turn) {
  const bool registered = applied.origins().registered(origin());
  calls_.known_as_origin(registered, turn.effects.completions);
  Consensus& consensus = turn.consensus;
  if (!consensus.knows_leader()) return;
  dispatches_.clear();
  const auto into = consensus.leads() ? Proposals::Into::OwnLog : Proposals::Into::OtherLog;
  calls_.collect(turn.now.lagging, registered, dispatches_, into);
  if (dispatches_.empty()) return;
  if (!consensus.leads()) return forward(turn);
  raft::Propose propose;
  propose.proposals.reserve(dispatches_.size());
  for (Proposals::Dispatch& dispatch : dispatches_) {
    const Ticket ticket = consensus.next_ticket();
    if (dispatch.sequence) proposed_.push_back({ticket, dispatch.sequence, dispatch.handing});
    propose.proposals.push_back({ticket, raft::EntryKind::Command, std::move(dispatch.payload)});
  }
  consensus.step(std::move(propose), turn.now.lagging);
}

void ProposalPath::forward(Turn& turn) {
  ToLeader to_leader(options_, turn);
  for (Proposals::Dispatch& dispatch : dispatches_) to_leader.add(std::move(dispatch.payload));
  to_leader.flush();
}

void ToLeader::add(SharedBytes&& command) {
  const bool full = bytes_ + command.size() > bytes_max_ || message_.commands.size() == kForwardCommandsMax;
  if (full && !message_.commands.empty()) flush();
  bytes_ += command.size();
  message_.commands.push_back(std::move(command));
}

void ToLeader::flush() {
  turn_.effects.sends.push_back({turn_.consensus.leader(), std::exchange(message_, {})});
  bytes_ = 0;
}

// An entry that was appended in this term stays in the log as long as the term lasts, and the next change of leadership starts
// over. Proposals are decided in order.
void ProposalPath::decided(const raft::ProposalOutcome& outcome, LaggingTime now) {
  if (proposed_.empty() || proposed_.front().ticket != outcome.ticket) return;
  const Proposed own = proposed_.take_front();
  if (outcome.kind == raft::ProposalOutcome::Kind::Appended) return;
  calls_.refused(own.sequence, own.handing, now + options_.raft.heartbeat_interval);
}

void ProposalPath::leadership_changed() {
  calls_.leadership_changed();
  proposed_.clear();
}

}  // namespace coordkit::engine

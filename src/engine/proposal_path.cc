#include "engine/proposal_path.h"

#include <utility>

namespace coordkit::engine {

Proposals::Road ProposalPath::road(const Consensus& consensus, const Router& applied) const {
  if (!consensus.knows_leader()) return Proposals::Road::NoLeader;
  return applied.origins().registered(origin()) ? Proposals::Road::Open : Proposals::Road::Unregistered;
}

void ProposalPath::propose(const Router& applied, Turn& turn) {
  const bool registered = applied.origins().registered(origin());
  calls_.known_as_origin(registered, turn.effects.completions);
  Consensus& consensus = turn.consensus;
  if (!consensus.knows_leader()) return;
  std::vector<Proposals::Handover> handovers;
  calls_.collect(turn.now.lagging, registered, handovers);
  if (handovers.empty()) return;
  if (!consensus.leads()) return forward(std::move(handovers), turn);
  raft::Propose propose;
  for (Proposals::Handover& handover : handovers) {
    const Ticket ticket = consensus.next_ticket();
    if (handover.sequence) proposed_.emplace(ticket, Proposed{handover.sequence, handover.handing});
    propose.proposals.push_back({ticket, raft::EntryKind::Command, std::move(handover.payload)});
  }
  consensus.step(std::move(propose), turn.now.lagging);
}

// In messages of about the size of an append.
void ProposalPath::forward(std::vector<Proposals::Handover> handovers, Turn& turn) const {
  Forward message;
  size_t bytes = 0;
  for (Proposals::Handover& handover : handovers) {
    if (!message.commands.empty() && bytes + handover.payload.size() > options_.raft.append_bytes_max) {
      turn.effects.sends.push_back({turn.consensus.leader(), std::exchange(message, {})});
      bytes = 0;
    }
    bytes += handover.payload.size();
    message.commands.push_back(std::move(handover.payload));
  }
  turn.effects.sends.push_back({turn.consensus.leader(), std::move(message)});
}

// What was appended in this term stays in the log as long as the term lasts, and the next change of leadership starts over.
void ProposalPath::settled(const raft::ProposalFate& fate, LaggingTime now) {
  const auto own = proposed_.find(fate.ticket);
  if (own == proposed_.end()) return;
  if (fate.kind == raft::ProposalFate::Kind::Appended) {
    calls_.postpone(own->second.sequence, LaggingTime::max());
  } else {
    calls_.refused(own->second.sequence, own->second.handing, now + options_.raft.heartbeat_interval);
  }
  proposed_.erase(own);
}

void ProposalPath::leadership_changed() {
  calls_.leadership_changed();
  proposed_.clear();
}

}  // namespace coordkit::engine

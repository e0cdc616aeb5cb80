#include "engine/timers/expirations.h"

#include <algorithm>
#include <utility>

namespace coordkit::engine {
namespace {

constexpr size_t kFiredEntriesPerTurn = 8;

}  // namespace

void Expirations::stood_still(const TurnClock::Gap& gap, Ticket leadership_question) {
  if (gap.late > Duration::zero()) timers_.shift(gap.late);
  question_ = leadership_question;
}

// An older question would not speak for the newest gap.
void Expirations::leadership_confirmed(Ticket question) {
  if (question_ == question) question_.reset();
}

void Expirations::propose(Turn& turn) {
  const LaggingTime now = turn.now.lagging;
  if (!turn.consensus.leads() || question_ || now < propose_again_) return;
  raft::Propose propose;
  while (propose.proposals.size() < kFiredEntriesPerTurn) {
    auto fired = timers_.collect(now, options_.timers_per_entry);
    if (!fired) break;
    fired->term = turn.consensus.term();
    const Ticket ticket = turn.consensus.next_ticket();
    propose.proposals.push_back({ticket, raft::EntryKind::Command, SharedBytes(encode(*fired))});
    proposed_.emplace(ticket, *std::move(fired));
  }
  if (!propose.proposals.empty()) turn.consensus.step(std::move(propose), now);
}

void Expirations::decided(const raft::ProposalOutcome& outcome, LaggingTime now) {
  const auto fired = proposed_.find(outcome.ticket);
  if (fired == proposed_.end()) return;
  if (outcome.kind != raft::ProposalOutcome::Kind::Appended) {
    timers_.unfire(fired->second);
    propose_again_ = now + options_.raft.heartbeat_interval;
  }
  proposed_.erase(fired);
}

void Expirations::leadership_changed() {
  timers_.follow();
  proposed_.clear();
  question_.reset();
  propose_again_ = LaggingTime::min();
}

LaggingTime Expirations::next_deadline() const {
  return question_ ? LaggingTime::max() : std::max(propose_again_, timers_.next_deadline());
}

}  // namespace coordkit::engine

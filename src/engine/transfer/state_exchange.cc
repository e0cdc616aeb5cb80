#include "engine/transfer/state_exchange.h"

#include <algorithm>
#include <utility>

namespace coordkit::engine {

// ---- the sender's side

// A damaged row is never sent (FLT_D08).
absl::Status StateExchange::take(ViewWasRead& read, Turn& turn) {
  return sender_.read(read, turn.consensus.term(), turn.now.lagging, turn.effects.sends);
}

void StateExchange::receive(ReplicaId from, StateRequest& request, Turn& turn) {
  const bool ours = turn.consensus.leads() && request.term == turn.consensus.term();
  if (ours) sender_.asked(from, std::move(request), turn.now.lagging);
}

void StateExchange::receive(ReplicaId from, const StateLoading& news, Turn& turn) {
  if (turn.consensus.leads()) sender_.loading(from, news, turn.now.lagging);
}

// ---- the receiver's side

void StateExchange::receive(ReplicaId from, const StateOffer& offer, Turn& turn) {
  const raft::Leadership& leadership = turn.consensus.leadership();
  const bool ours = leadership.leader == from && leadership.term == offer.term;
  if (ours && offer.at.index > turn.consensus.core()->commit()) receiver_.offered(from, offer, turn.now.lagging);
}

void StateExchange::installed(Position at, EngineEffects& effects) {
  receiver_.installed();
  effects.restore = at;
}

StateOffer StateExchange::take_restored() {
  const StateOffer offer = *receiver_.offer();
  receiver_.restored();
  return offer;
}

// The log has brought us there. Or it brings us on: a leader of a later term commits here what it sends, so it misses nothing
// that we lack. The offer of one leader must not be waited for under the next (FLT_S12).
bool StateExchange::needless(const std::optional<StateOffer>& offer, const Consensus& consensus) {
  if (consensus.leads()) return true;
  if (!offer) return false;
  const raft::Core& core = *consensus.core();
  const std::optional<Term> committed = core.term_at(core.commit());
  return core.commit() >= offer->at.index || (committed && *committed > offer->term);
}

// ---- the step of a turn

void StateExchange::step(bool checkpoint_under_way, Turn& turn) {
  Consensus& consensus = turn.consensus;
  const LaggingTime now = turn.now.lagging;
  if (consensus.leads()) {
    sender_.behind(consensus.behind(), now);
    sender_.collect(consensus.term(), consensus.core()->base(), now, turn.effects.views, turn.effects.sends);
  } else {
    sender_.stop(turn.effects.views);
  }
  if (const Index pinned = sender_.pinned(); pinned != pinned_) {
    pinned_ = pinned;
    consensus.step(raft::Pin{pinned}, now);
  }
  const std::optional<StateOffer> offer = receiver_.offer();
  if (needless(offer, consensus)) receiver_.drop();
  const auto may = checkpoint_under_way ? StateReceiver::May::Wait : StateReceiver::May::Install;
  const ReplicaId leader = consensus.leads() ? ReplicaId() : consensus.leader();
  receiver_.collect(leader, consensus.term(), may, now, turn.effects.staging, turn.effects.sends);
}

void StateExchange::warnings(std::vector<std::string>& out) const {
  if (!sender_.unsent().empty()) out.push_back("the state cannot be sent to a member that needs it: " + sender_.unsent());
}

LaggingTime StateExchange::next_deadline() const { return std::min(sender_.next_deadline(), receiver_.next_deadline()); }

}  // namespace coordkit::engine

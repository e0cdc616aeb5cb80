// States for peers and from them: reports of the host and of peers, and the step of a turn that acts on them.
//
// From the decision to install until the machines are there, apply and checkpoints pause. Elections, heartbeats, appends and
// reads of the old state continue (docs/decisions/0006).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/loop/consensus.h"
#include "engine/transfer/state_receiver.h"
#include "engine/transfer/state_sender.h"

namespace coordkit::engine {

class StateExchange {
 public:
  explicit StateExchange(const EngineOptions& options) : sender_(options), receiver_(options) {}

  // ---- as leader. An error: our own rows are damaged
  absl::Status take(ViewOpened& view, LaggingTime now) { return sender_.opened(view, now); }
  absl::Status take(ViewWasRead& read, Turn& turn);
  void receive(ReplicaId from, StateRequest& request, Turn& turn);
  void receive(ReplicaId from, const StateLoading& news, Turn& turn);

  // ---- from the leader
  void receive(ReplicaId from, const StateOffer& offer, Turn& turn);
  void receive(ReplicaId from, StateChunk& chunk) { receiver_.received(from, std::move(chunk)); }
  void reconnected(ReplicaId peer) { receiver_.reconnected(peer); }
  void staged(Ticket ticket) { receiver_.staged(ticket); }
  void installed(Position at, EngineEffects& effects);
  void install_refused() { receiver_.refused(); }
  void forgotten() { receiver_.forgotten(); }
  // The machines are built: the offer they were built from.
  StateOffer take_restored();
  bool installing() const { return receiver_.installing(); }
  bool building() const { return receiver_.building(); }
  // The state on its way here, if any.
  std::optional<StateOffer> offer() const { return receiver_.offer(); }
  uint64_t bytes() const { return receiver_.bytes(); }
  void warnings(std::vector<std::string>& out) const;

  void step(bool checkpoint_under_way, Turn& turn);
  void stop(EngineEffects& effects) { sender_.stop(effects.views); }
  LaggingTime next_deadline() const;

 private:
  static bool needless(const std::optional<StateOffer>& offer, const Consensus& consensus);

  StateSender sender_;
  StateReceiver receiver_;
  Index pinned_;  // as known to the core
};

}  // namespace coordkit::engine

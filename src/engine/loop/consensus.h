// The core of this replica as the rest of the engine sees it: absent before the genesis, in quarantine and after a halt. Every
// input to the core goes through here, with the tickets under which its answers return.
//
// The one rule that orders I/O is enforced here too: what the core sends leaves once the write that it depends on is durable.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "coordkit/raft/core.h"
#include "engine/apply/log_command.h"
#include "engine/calls/forwarded.h"
#include "engine/loop/turn.h"
#include "engine/loop/write_gate.h"

namespace coordkit::engine {

class Consensus {
 public:
  explicit Consensus(const raft::Options& options) : options_(options) {}

  void start(raft::Recovered recovered, LaggingTime now);
  void stop(EngineEffects& effects);
  bool runs() const { return core_.has_value(); }
  // Null: it is not running.
  const raft::Core* core() const { return core_ ? &*core_ : nullptr; }

  // ---- the leadership at the last drain
  const raft::Leadership& leadership() const { return leadership_; }
  ReplicaId leader() const { return leadership_.leader; }
  Term term() const { return leadership_.term; }
  bool leads() const { return leadership_.role == raft::Role::Leader; }
  bool knows_leader() const { return core_ && leadership_.leader; }
  bool holds_back() const { return knows_leader() && core_->holds_back(); }
  void leadership_changed(const raft::Leadership& leadership);

  // ---- while it runs
  Ticket next_ticket() { return std::exchange(next_ticket_, next_ticket_.next()); }
  void step(raft::Input input, LaggingTime now) { core_->step(std::move(input), now); }
  void tick(LaggingTime now);
  std::span<const raft::Entry> committed(Index first, size_t bytes_max) { return core_->committed(first, bytes_max); }
  void applied(Index through);
  // Drains the core. Valid until the next call.
  raft::Effects& drain();
  const std::vector<ReplicaId>& behind() const { return drained_.behind; }  // at that drain: peers that need a state
  void decided(const raft::ProposalOutcome& outcome) { forwarded_.decided(outcome); }

  // Commands that another replica hands to this leader; those that are not `wanted` are skipped.
  void propose_for(ReplicaId from, Forward& message, absl::FunctionRef<bool(const LogCommand&)> wanted, LaggingTime now);
  bool under_way(const RequestId& request) const { return forwarded_.under_way(request); }
  // A command of this replica that is proposed here or handed to the leader; repeating it is up to the caller.
  void hand_over(SharedBytes command, Turn& turn);

  // Answers come out of each replica's own apply, so a peer whose call was just decided must learn at once that it is
  // committed; the others learn it with the next append.
  void note_waiting(ReplicaId origin);
  bool send_commit_to_waiting(LaggingTime now);  // true: there is more to drain

  WriteGate& writes() { return writes_; }
  const WriteGate& writes() const { return writes_; }

 private:
  const raft::Options& options_;
  std::optional<raft::Core> core_;
  raft::Leadership leadership_;
  raft::Effects drained_;
  Ticket next_ticket_{1};
  Forwarded forwarded_;
  std::vector<ReplicaId> waiting_;  // peers, for the commit
  WriteGate writes_;
};

}  // namespace coordkit::engine

// A leadership transfer, as the caller's replica pursues it: requested from the current leader until this replica
// has applied the first entry of the new leader, or the deadline has passed (docs/semantics.md S-61). Asking twice is harmless,
// and how long a leader refuses commands for it is the leader's own decision (raft/pending_transfer.h).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "coordkit/engine/engine.h"

namespace coordkit::engine {

class LeadershipTransfer {
 public:
  LeadershipTransfer(const EngineOptions& options, BootCounter boot) : options_(options), attempt_(boot.value() << 32) {}

  // A new call. Refused ones complete at once, and so does one that is already true. `in_force`: the members that could lead.
  void start(const TransferLeadership& call, const raft::Configuration& in_force, const raft::Leadership& leadership,
             std::vector<Completion>& completions);
  void forget(Ticket ticket);

  // The first entry of the current leader's term was applied here.
  void leader_started(const raft::Leadership& leadership, Index at, std::vector<Completion>& completions);
  void replied(const TransferReply& reply, LaggingTime now, std::vector<Completion>& completions);
  void leadership_changed() { ask_at_ = LaggingTime::min(); }
  void expire(LaggingTime now, std::vector<Completion>& completions);
  void fail(Reason reason, std::string_view why, std::vector<Completion>& completions);

  // The question for the leader now; call only when one is known.
  std::optional<TransferRequest> question(LaggingTime now, ReplicaId leader);
  LaggingTime next_deadline(bool leader_known) const;

 private:
  bool moved_to(ReplicaId leader) const;  // with it the call has what it wants
  bool unfit_for_long(LaggingTime now);
  void complete(absl::Status status, Index index, std::vector<Completion>& completions);

  const EngineOptions& options_;
  uint64_t attempt_;  // of this boot, so that no answer to an earlier one matches
  std::optional<TransferLeadership> call_;
  ReplicaId previous_;       // the leader when it was first asked; zero: not asked yet
  bool unanswered_ = false;  // by the leader that was asked last
  LaggingTime ask_at_{};
  std::optional<LaggingTime> unfit_since_;
};

}  // namespace coordkit::engine

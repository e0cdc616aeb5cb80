// One membership change, as the caller's replica pursues it: from the request to the final configuration (decisions/0007).
//
// Each step is a compare-and-change: (the configuration it starts from, what to change). It is sent to the leader again and
// again until this replica's own applied configurations show its outcome. The next one after that start is either the step's
// result, or something else, and then the step never has an effect (no log has two next configurations).
// So nothing depends on an answer that may get lost; answers only explain the wait, and speed up a definite no.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "coordkit/engine/engine.h"
#include "engine/members/change_plan.h"
#include "engine/members/change_step.h"
#include "engine/peers/peer_set.h"

namespace coordkit::engine {

class MemberChange {
 public:
  MemberChange(const EngineOptions& options, StoreId store, BootCounter boot)
      : options_(options), store_(store), attempt_(boot.value() << 32), step_(options.raft) {}

  // A new call. Refused ones complete at once.
  void start(ChangeMembers call, Index at, const raft::Configuration& applied, std::vector<Completion>& completions);
  void forget(Ticket ticket);
  std::string waits_for(bool leader_known) const;  // a sentence; empty: nothing is in progress

  // A configuration was applied here: each one, in order.
  void applied(Index at, const raft::Configuration& configuration, std::vector<Completion>& completions);
  void state_replaced(Index at, const raft::Configuration& configuration, std::vector<Completion>& completions);
  void replied(const ChangeReply& reply, LaggingTime now, std::vector<Completion>& completions);
  void leadership_changed() { step_.ask_at(LaggingTime::min()); }
  // This replica was told that it is no longer a member.
  void removed(std::vector<Completion>& completions);
  void expire(LaggingTime now, bool leader_known, std::vector<Completion>& completions);
  void fail(Reason reason, std::string_view why, std::vector<Completion>& completions);

  // The question for the leader now; call only when one is known.
  std::optional<ChangeRequest> question(LaggingTime now, const PeerSet& peers, std::vector<Completion>& completions);
  std::vector<Peer> prospects() const;  // to be connected, so that their store ids become known
  LaggingTime next_deadline(bool leader_known) const;

 private:
  bool meet(const PeerSet& peers);
  void step_done(Index at, std::vector<Completion>& completions);
  void rebase(Index at, const raft::Configuration& configuration, std::vector<Completion>& completions);
  void complete(absl::Status status, Index index, std::vector<Completion>& completions);
  void refuse(const Objection& objection, std::vector<Completion>& completions);
  bool asks() const;  // once a leader is known
  bool may_take_effect() const { return step_.leaving() || step_.uncertain(); }
  bool leaves_by_it() const;

  const EngineOptions& options_;
  const StoreId store_;
  uint64_t attempt_;  // of this boot, so that no answer to an earlier one matches

  std::optional<ChangeMembers> call_;
  Index at_;                     // of the newest applied configuration
  raft::Configuration applied_;  // I: what the next step starts from, unless joint
  std::deque<Changes> steps_;    // the front one is current; empty before they are planned
  bool begun_ = false;           // an earlier step took effect
  ChangeStep step_;              // the current one
  std::string meeting_;          // the replica that was not connected yet, and why
};

}  // namespace coordkit::engine

// Calls that change membership or leadership: the caller's side, which pursues them (member_change.h,
// leadership_transfer.h), and the leader's, which passes them to its core.
#pragma once

#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "engine/apply/router.h"
#include "engine/loop/consensus.h"
#include "engine/members/leadership_transfer.h"
#include "engine/members/member_change.h"

namespace coordkit::engine {

class MemberCalls {
 public:
  MemberCalls(const EngineOptions& options, const Origin& self)
      : options_(options), change_(options, self.store, self.boot), transfer_(options, self.boot) {}

  // ---- the caller's side
  void start(ChangeMembers call, const Router& router, Turn& turn);
  void start(const TransferLeadership& call, const Router& router, Turn& turn);
  void forget(Ticket ticket);
  // Sends what is due to the leader, possibly this replica's own core.
  void ask_leader(const Router& router, const PeerSet& peers, Turn& turn);
  void receive(const ChangeReply& reply, Turn& turn);
  void receive(const TransferReply& reply, Turn& turn);
  void configuration_applied(const RouterOutput::InForce& one, EngineEffects& effects);
  void leader_started(const raft::Leadership& leadership, Index at, EngineEffects& effects);
  void state_replaced(const Router& router, const raft::Leadership& leadership, EngineEffects& effects);
  void leadership_changed();
  void removed(std::string_view why, EngineEffects& effects);
  void expire(LaggingTime now, bool leader_known, EngineEffects& effects);
  void fail(Reason reason, std::string_view why, EngineEffects& effects);
  LaggingTime next_deadline(bool leader_known) const;

  std::string change_waits_for(bool leader_known) const { return change_.waits_for(leader_known); }
  std::vector<Peer> prospects() const { return change_.prospects(); }

  // ---- the leader's side
  void receive(ReplicaId from, ChangeRequest request, Turn& turn);
  void receive(ReplicaId from, const TransferRequest& request, Turn& turn);
  void decided(const raft::ChangeOutcome& outcome, Turn& turn);
  void decided(const raft::TransferOutcome& outcome, Turn& turn);

 private:
  struct AskedChange {
    ReplicaId from;
    ChangeRequest request;
  };
  struct AskedTransfer {
    ReplicaId from;
    uint64_t attempt = 0;
  };
  ReplicaId self() const { return options_.raft.self; }
  void leader_known(const Router& router, const raft::Leadership& leadership, EngineEffects& effects);
  ChangeReply reply_to(const ChangeRequest& request, const raft::ChangeOutcome& outcome, const Turn& turn) const;

  const EngineOptions& options_;
  MemberChange change_;
  LeadershipTransfer transfer_;
  absl::btree_map<Ticket, AskedChange> asked_changes_;  // of the core
  absl::btree_map<Ticket, AskedTransfer> asked_transfers_;
};

}  // namespace coordkit::engine

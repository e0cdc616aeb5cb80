// Watches the whole cluster's consensus from outside and keeps its own history: the leader of each term, the entry first seen
// at each (index, term), and the entry committed at each index. It reads what replicas write, send and claim, and the
// disks; it never trusts an engine. Each check names its invariant (invariants.md, section 1).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "coordkit/engine/engine.h"
#include "sim/oracle/membership_observer.h"
#include "sim/world/disk.h"
#include "sim/world/state_disk.h"
#include "sim/world/world.h"

namespace coordkit::sim {

// The parts of one node that the observer may read.
struct NodeView {
  const SimLogStore* log = nullptr;
  const SimStateStore* state = nullptr;
  const Engine* engine = nullptr;  // null while the process is down
};

// An entry that some replica held to be committed.
struct CommittedEntry {
  Term term;
  Term committed_in;  // of the first replica that knew; its leader committed it in this term or earlier
  uint64_t chain = 0;
  raft::EntryKind kind = raft::EntryKind::Command;
  SharedBytes payload;
};

class ConsensusObserver {
 public:
  ConsensusObserver(World& world, uint32_t nodes, SituationCounts& situations, bool geneses_differ)
      : world_(world), views_(nodes), seen_(nodes), members_(nodes, situations), geneses_differ_(geneses_differ) {}
  // Leaves comparing states to the replicas (Defects::one_state_rots).
  void look_away_from_states() { compares_states_ = false; }

  // Machines beside coordkit's whose states are compared too.
  void also_watch(std::vector<MachineId> machines) { others_ = std::move(machines); }

  // A node's disk, for the whole run; it may be replaced by a blank one while the process is down.
  void own(uint32_t node, const SimLogStore& log, const SimStateStore& state);
  void disk_lost(uint32_t node);  // called before the loss
  // A process started (again) or stopped.
  void attach(uint32_t node, const Engine& engine);
  void detach(uint32_t node);

  // In this order for each turn: each write as it is submitted (before the store takes it), each send, then the rest.
  void write(uint32_t node, const LogWrite& write);
  void send(uint32_t node, ReplicaId to, const Message& message);
  void after_turn(uint32_t node);
  // A peer's state replaced this replica's own in this turn; before after_turn.
  void restored(uint32_t node, Position at);
  // Votes and terms become facts when they are durable.
  void synced(uint32_t node);

  Index committed() const { return Index(committed_.size()); }
  const CommittedEntry& at(Index index) const { return committed_[index.value() - 1]; }
  Index applied() const { return applied_; }  // highest index applied anywhere
  uint64_t chain(Position at) const;          // of a committed position
  uint64_t installs() const { return installs_; }
  uint64_t elections() const { return leaders_.size(); }
  const MembershipObserver& members() const { return members_; }
  std::optional<uint32_t> leader() const;  // of the highest term, if its process is up and claims it

 private:
  struct Seen {
    raft::HardState hard_state;  // highest submitted by this store
    raft::HardState durable;
    Index commit;  // this incarnation
    Index applied;
    raft::Leadership leadership;
    uint64_t turns = 0;
    bool restored = false;  // in this turn
    bool told = false;      // in this incarnation a peer told it of newer members at no higher index
  };

  void check_silent(uint32_t node, const Message& message) const;
  void check_truncation(uint32_t node, const LogWrite& write);
  void check_appended(uint32_t node, const LogWrite& write);
  void check_members(uint32_t node);
  void check_leadership(uint32_t node);
  void check_own_term(uint32_t node) const;
  void check_commit(uint32_t node);
  void check_applied(uint32_t node);
  void check_progress(uint32_t node);
  void check_quorum_durable(uint32_t node, Index index, uint64_t chain) const;
  void check(uint32_t node, const raft::VoteRequest& request);
  void check(uint32_t node, ReplicaId to, const raft::VoteReply& reply);
  void check(uint32_t node, const raft::AppendRequest& request);
  void check(uint32_t node, const raft::AppendReply& reply);
  void check(uint32_t node, const raft::Heartbeat& heartbeat);
  void check(uint32_t node, const raft::HeartbeatReply& reply);
  template <typename Other>
  void check(uint32_t, const Other&) {}
  Index committed_before(Term term) const;
  uint64_t digest_of(uint32_t node) const;
  Index durable(uint32_t node) const;  // by log or by state

  World& world_;
  std::vector<NodeView> views_;
  std::vector<Seen> seen_;
  MembershipObserver members_;
  std::map<Term, uint32_t> leaders_;
  std::map<std::pair<uint32_t, Term>, ReplicaId> votes_sent_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> chains_;  // (index, term) -> chain, as first seen
  // Some disk has stored a genesis. No other replica learns of it before that, so a founder that dies first starts over.
  bool genesis_stored_ = false;
  std::vector<CommittedEntry> committed_;  // [index - 1]
  std::vector<uint64_t> digests_;          // [applied index]; 0: no replica stopped there yet
  bool compares_states_ = true;
  const bool geneses_differ_;  // until entries follow one of them (genesis_observer.h)
  std::vector<MachineId> others_;
  Index applied_;
  uint64_t installs_ = 0;
};

}  // namespace coordkit::sim

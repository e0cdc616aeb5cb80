// The naive twin of everything past commit: origins, sessions, locks, keys, leases and the rest. It reads the committed
// entries one by one and says what each must answer and what the state is at any index. Written to be obviously right, not
// for speed; the real machine is never asked. Histories are kept, so that a read can be compared at the index it claims.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordkit/raft/entry.h"
#include "engine/log_command.h"
#include "machine/command.h"
#include "machine/result.h"
#include "sim/coordination_model.h"
#include "sim/key_model.h"
#include "sim/lease_model.h"
#include "sim/lock_model.h"

namespace coordkit::sim {

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;  // its locks refer to its counter
  Model& operator=(const Model&) = delete;

  struct Session {
    Duration ttl{};
    ReplicaId node;
    BootCounter boot;
    uint64_t incarnation = 0;  // of the node's disk
    Index opened;
    std::string metadata;
    lease::SecretHash secret;
    Generation generation;
    Index ending;  // since that entry; zero: it is not ending
    bool contested = false;
    Sequence resumed_by;
    Index resumed;
    std::vector<Token> held_then;  // taken over with it
  };
  // The outcome of a command that carries a label of the workload.
  struct CommandOutcome {
    uint64_t executions = 0;
    RequestId request;
    std::optional<machine::Result> result;  // the final one
    Index index;                            // of the entry that decided it
    Index arrived;                          // of the entry that carried it
  };
  // A command without a label is identified by its contents and its sender; several may be identical.
  struct Execution {
    RequestId request;
    Index index;                            // of the entry that decided it
    std::optional<machine::Result> result;  // the final one
  };
  static std::string key_of(ReplicaId sender, const machine::Request::Body& body);

  // Effects of the last apply.
  struct Ended {
    SessionId session;  // or the number of a lease
    bool expired = false;
    LeaseId lease = {};
  };

  void apply(Index index, Term term, raft::EntryKind kind, std::string_view payload);
  Index applied() const { return applied_; }
  const std::vector<LockModel::Claim>& granted() const { return locks_.granted(); }
  const std::vector<Ended>& ended() const { return ended_; }

  const CommandOutcome* outcome_of(const std::string& label) const;
  const std::vector<Execution>& executions(const std::string& key) const;
  // The answer there to the request at this index (queued or final); null: the entry was no request or had no effect.
  const machine::Result* answered_at(Index index) const;

  const Session* session(SessionId id) const;
  const std::map<SessionId, Session>& sessions() const { return sessions_; }
  const LockModel& locks() const { return locks_; }
  const CoordinationModel& coordination() const { return coordination_; }
  uint64_t expiries() const { return expiries_; }
  uint64_t grants() const { return grants_; }
  uint64_t releases() const { return locks_.releases(); }

  // The state as it was after `at` <= applied().
  using Value = KeyModel::Value;
  std::optional<Value> value_at(const std::string& key, Index at) const;
  const KeyModel& keys() const { return keys_; }
  const LeaseModel& leases() const { return leases_; }
  Revision compacted_at(Index at) const;
  Revision revision_at(Index at) const;
  struct LockLook {
    std::vector<LockModel::Claim> holds;  // in grant order
    std::vector<RequestId> waiters;
    bool delayed = false;
  };
  LockLook lock_at(const std::string& name, Index at) const;
  machine::ObjectView object_at(const CoordinationModel::Object& object, Index at) const;
  // Whether it was like this after some entry from `from` on.
  bool object_was(const CoordinationModel::Object& object, Index from,
                  const std::function<bool(const machine::ObjectView&)>& like_this) const;
  bool lock_was(const std::string& name, Index from, const std::function<bool(const LockLook&)>& like_this) const;
  // The entries after `from` that touched it, ascending.
  std::vector<Index> object_changes(const CoordinationModel::Object& object, Index from) const;
  std::vector<Index> lock_changes(const std::string& name, Index from) const;
  std::vector<SessionId> sessions_at(Index at) const;

 private:
  struct Origins {
    StoreId store;
    BootCounter boot;
    Sequence retired{1};
    std::set<Sequence> executed;
  };
  template <typename T>
  using History = std::vector<std::pair<Index, T>>;  // ascending
  template <typename T>
  static const T* look(const History<T>& history, Index at);
  template <typename T>
  static void record(History<T>& history, Index at, T value);
  template <typename T>
  static std::vector<Index> changes(const History<T>& history, Index from);
  template <typename T>
  static bool was(const History<T>* history, Index from, const std::function<bool(const T&)>& like_this);

  void configure(const raft::Configuration& configuration);
  void enroll(const engine::RegisterOrigin& registration);
  bool guard_met(const engine::Request& request);
  bool admit(const engine::Request& request);
  void execute(const engine::Request& request);
  void fire(const engine::FireTimers& fired);

  machine::Result run(const machine::Request& request, const RequestId& id);
  machine::Result run(const machine::OpenSession& open);
  machine::Result run(const machine::CloseSession& close);
  machine::Result run(const machine::Acquire& acquire, const RequestId& id);
  machine::Result run(const machine::AcquireAll& acquire, const RequestId& id);
  machine::Result run(const machine::Release& release);
  machine::Result run(const machine::CancelAcquire& cancel);
  machine::Result run(const machine::ResumeSession& resume, const RequestId& id);
  machine::Result run(const machine::KillSession& kill);
  machine::Result run(const machine::ForceRelease& force);
  machine::Result run(const machine::Downgrade& downgrade);
  machine::Result run(const machine::Upgrade& upgrade);
  machine::Result run(const machine::UpdateValue& update);
  machine::Result run(const machine::ClearDelay& clear);
  machine::Result run(const machine::CoordinationCommand& command, const RequestId& id);
  machine::Result run(const machine::RefillBlock& refill);
  machine::Result run(const machine::Put& put);
  machine::Result run(const machine::Delete& erase) { return keys_.run(erase); }
  machine::Result run(const Transaction& transaction);
  machine::Result run(const machine::Compact& compact) { return keys_.run(compact); }
  machine::Result run(const machine::GrantLease& grant);
  machine::Result run(const machine::RenewLease& renew) { return leases_.run(renew); }
  machine::Result run(const machine::RevokeLease& revoke);
  KeyModel::Around around();
  bool lock_condition(const Compare& compare);

  void label(const machine::Request& request, const RequestId& id);
  void finish(const RequestId& id, machine::Result result);
  machine::Result acquire(LockModel::Claim claim, const machine::Wait& wait, uint64_t flags);
  void end_session(SessionId id, bool expired);
  uint64_t end_lease(const LeaseModel::Lease& lease, bool expired);
  bool lost_to_sender(const machine::Request& request, SessionId id, const RequestId& by) const;
  void mark_ending(SessionId id);
  void end_waits(SessionId id, CoordinationModel::Waiter waiter);
  void decide_waits();
  void remember_locks();

  Index applied_;
  Term leader_term_;
  uint64_t counter_ = 0;
  std::map<ReplicaId, raft::Member> members_;
  std::map<ReplicaId, Origins> origins_;
  std::map<SessionId, Session> sessions_;
  LockModel locks_{counter_};
  CoordinationModel coordination_{counter_};
  KeyModel keys_;
  LeaseModel leases_{counter_};
  std::set<RequestId> cancelled_;  // acquires that must no longer run

  std::vector<LockModel::Ended> waits_ended_;  // since the last decide_waits()
  std::vector<Ended> ended_;
  uint64_t grants_ = 0, expiries_ = 0;

  std::map<std::string, CommandOutcome> outcomes_;
  std::map<RequestId, std::string> labels_;
  std::map<std::string, std::vector<Execution>> executions_;
  std::map<RequestId, std::pair<std::string, size_t>> executing_;  // its place there
  std::map<Index, machine::Result> answers_;
  std::map<std::string, History<LockLook>> lock_history_;
  std::map<CoordinationModel::Object, History<machine::ObjectView>> object_history_;
  History<Revision> revision_history_;
  History<Revision> compaction_history_;
  struct Life {
    SessionId id;
    Index from;
    Index until;  // zero: alive
  };
  std::vector<Life> lives_;  // ascending ids
};

}  // namespace coordkit::sim

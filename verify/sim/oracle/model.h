// The naive twin of everything past commit: origins, sessions, locks, keys, leases and the rest. It reads the committed
// entries one by one and says what each must answer and what the state is at any index. Written to be obviously right, not
// for speed; the real machine is never asked. Histories are kept, so that a read can be compared at the index it claims.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordkit/raft/entry.h"
#include "engine/apply/log_command.h"
#include "machine/command.h"
#include "machine/result.h"
#include "sim/keys/key_model.h"
#include "sim/keys/lease_model.h"
#include "sim/locks/lock_model.h"
#include "sim/objects/coordination_model.h"
#include "sim/oracle/command_outcomes.h"
#include "sim/oracle/origin_model.h"
#include "sim/oracle/state_history.h"
#include "sim/sessions/session_model.h"

namespace coordkit::sim {

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;  // its locks refer to its counter
  Model& operator=(const Model&) = delete;

  // Effects of the last apply.
  struct Ended {
    SessionId session;  // or the number of a lease
    bool expired = false;
    LeaseId lease = {};
  };

  void apply(Index index, Term term, raft::EntryKind kind, std::string_view payload);
  Index applied() const { return applied_; }
  const std::vector<Ended>& ended() const { return ended_; }

  const SessionModel& sessions() const { return sessions_; }
  const LockModel& locks() const { return locks_; }
  const CoordinationModel& coordination() const { return coordination_; }
  const KeyModel& keys() const { return keys_; }
  const LeaseModel& leases() const { return leases_; }
  const CommandOutcomes& outcomes() const { return outcomes_; }
  uint64_t origins_that_came_back() const { return origins_.came_back(); }
  const StateHistory& history() const { return history_; }
  std::optional<KeyModel::Value> value_at(const std::string& key, Index at) const;  // as it was after `at` <= applied()

 private:
  bool guard_met(const engine::Request& request);
  void execute(const engine::Request& request);
  void fire(const engine::FireTimers& fired);

  machine::Result run(const machine::Request& request, const RequestId& id);
  machine::Result run(const machine::CloseSession& close);
  machine::Result run(const machine::Acquire& acquire, const RequestId& id);
  machine::Result run(const machine::AcquireAll& acquire, const RequestId& id);
  machine::Result run(const machine::Release& release);
  machine::Result run(const machine::CancelAcquire& cancel);
  machine::Result run(const machine::ResumeSession& resume, const RequestId& id);
  machine::Result run(const machine::KillSession& kill);
  machine::Result run(const machine::ForceRelease& force);
  machine::Result run(const machine::CoordinationCommand& command, const RequestId& id);
  machine::Result run(const machine::Put& put);
  machine::Result run(const Transaction& transaction);
  machine::Result run(const machine::GrantLease& grant);
  machine::Result run(const machine::RevokeLease& revoke);
  KeyModel::Around around();
  bool lock_condition(const Compare& compare);

  machine::Result acquire(LockModel::Claim claim, const machine::Wait& wait, uint64_t flags);
  void end_session(SessionId id, bool expired);
  uint64_t end_lease(const LeaseModel::Lease& lease, bool expired);
  void mark_ending(SessionId id);
  void end_waits(SessionId id, CoordinationModel::Waiter waiter);
  void decide_waits();

  Index applied_;
  Term leader_term_;
  uint64_t level_ = 0;  // the feature level
  uint64_t counter_ = 0;
  OriginModel origins_;
  SessionModel sessions_{counter_};
  LockModel locks_{counter_};
  CoordinationModel coordination_{counter_};
  KeyModel keys_;
  LeaseModel leases_{counter_};
  std::set<RequestId> cancelled_;  // acquires that must no longer run

  std::vector<LockModel::Ended> waits_ended_;  // since the last decide_waits()
  std::vector<Ended> ended_;
  CommandOutcomes outcomes_;
  StateHistory history_;
};

}  // namespace coordkit::sim

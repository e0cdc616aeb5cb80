// The replicated state of the machine, and one entry on its way through it. The parts of the machine (machine_sessions.h,
// machine_locks.h, machine_keys.h, machine_leases.h, machine_coordination.h) each change their share of one state. The step
// of an entry collects its decisions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coordination/coordination.h"
#include "coordkit/ports/state_machine.h"
#include "lease/lease_table.h"
#include "lock/lock_table.h"
#include "machine/locks/cancel_marks.h"
#include "machine/permissions/permissions.h"
#include "machine/result.h"
#include "mvcc/store.h"

namespace coordkit::machine {

inline constexpr uint64_t kWaitTimerBit = uint64_t{1} << 63;
constexpr TimerId session_timer(SessionId session) { return TimerId(session.value()); }
constexpr TimerId delay_timer(uint64_t id) { return TimerId(id); }
constexpr TimerId wait_timer(Index queued) { return TimerId(queued.value() | kWaitTimerBit); }
TimerOp timer_of(SessionId id, const lease::Session& session);  // of a session or of a lease of keys

struct State {
  ClusterId cluster;
  lock::TokenCounter counter;
  lease::Table sessions;
  lease::Table leases;  // of keys; their numbers come from the same counter, so that no session has one of them
  lock::Table locks;
  mvcc::Store keys;
  uint64_t key_quota = 0;
  CancelMarks cancels;
  coordination::Coordination coordination;
  Permissions permissions;  // of remotes

  // Whether keys can be attached to it: to a lease, or to a session by its id.
  bool lease_exists(LeaseId lease) const;
};

// One entry under way, with its decisions so far.
struct ApplyStep {
  Index index;
  RequestId request;
  ApplyOutput& output;
  lock::Decisions& decisions;
  const State& state;
  std::string& scratch;  // a result while it is written

  void answer(Result&& result, ApplyOutput::Stage stage);
};

// The result of a request. nullopt: it was Queued and is answered later.
using Answer = std::optional<Result>;

}  // namespace coordkit::machine

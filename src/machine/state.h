// What the machine replicates, and one entry on its way through it. The parts of the machine (machine_sessions.h,
// machine_locks.h, machine_keys.h, machine_leases.h, machine_coordination.h) each change their share of one state; what an
// entry decides is collected in its step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coordination/coordination.h"
#include "coordkit/state_machine.h"
#include "lease/table.h"
#include "lock/table.h"
#include "machine/cancel_marks.h"
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
  lease::Table leases;  // of keys; ids from the same counter, so that no session has one of theirs
  lock::Table locks;
  mvcc::Store keys;
  uint64_t key_quota = 0;
  CancelMarks cancels;
  coordination::Coordination coordination;

  // What keys can be attached to: a lease, or a session by its id.
  bool lease_exists(LeaseId lease) const;
};

// One entry under way: what it decided so far.
struct ApplyStep {
  Index index;
  RequestId request;
  ApplyOutput& output;
  lock::Decisions& decisions;
  const State& state;
  std::string& scratch;  // a result while it is written

  void answer(Result&& result, ApplyOutput::Stage stage);
};

// What a kind of request comes to. Nothing: it was Queued and is answered later.
using Answer = std::optional<Result>;

}  // namespace coordkit::machine

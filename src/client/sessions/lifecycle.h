// The three phases of a session at its holder, as one pure table (docs/semantics.md S-45). Every change of a phase goes
// through it, so that there is no path out of Lost (tests named REG_F78).
#pragma once

#include <cstdint>

#include "coordkit/client/handles.h"

namespace coordkit::client {

enum class SessionEvent : uint8_t {
  DeadlineReached,   // the holder's clock is at or past the validity deadline
  Gap,               // docs/time.md LT-9: the clock stepped back, or the turns stopped for longer than the renewal interval
  RenewalConfirmed,  // with a deadline in the future, sent after the last gap
  Ended,             // the session has ended, for whatever reason
  Closed,            // close(), or the client stopped
  GivenUp,           // in jeopardy for longer than the give-up limit
};

constexpr SessionPhase next_phase(SessionPhase from, SessionEvent event) {
  if (from == SessionPhase::Lost) return SessionPhase::Lost;
  switch (event) {
    case SessionEvent::DeadlineReached:
    case SessionEvent::Gap: return SessionPhase::Jeopardy;
    case SessionEvent::RenewalConfirmed: return SessionPhase::Valid;
    case SessionEvent::Ended:
    case SessionEvent::Closed: return SessionPhase::Lost;
    case SessionEvent::GivenUp:  // only raised in jeopardy; elsewhere it has no effect
      return from == SessionPhase::Jeopardy ? SessionPhase::Lost : from;
  }
  return SessionPhase::Lost;
}

}  // namespace coordkit::client

namespace coordkit {

// The only writer of handle states, with two exceptions. A handle's own invalidate() and a watch's expire() may run at any
// moment on another thread. So the phase is only ever exchanged, never stored over a Lost.
class SessionWriter {
 public:
  // Publishes the deadline before the phase: a reader that sees Valid sees a deadline that belongs to it or is newer. Returns
  // the phase that it found.
  static SessionPhase set(SessionState& state, SessionPhase phase, LeadingTime deadline) {
    set_deadline(state, deadline);
    SessionPhase seen = state.phase_.load(std::memory_order_acquire);
    while (seen != SessionPhase::Lost && seen != phase &&
           !state.phase_.compare_exchange_weak(seen, phase, std::memory_order_acq_rel)) {
    }
    return seen;
  }
  // Must come before the phase to which it belongs.
  static void set_deadline(SessionState& state, LeadingTime deadline) {
    state.deadline_.store(deadline.time_since_epoch().count(), std::memory_order_release);
  }
  // Creates them at the first call.
  static Delegations& delegations(SessionState& state, size_t idle_max);
  static void close(SessionState& state) { state.invalidate(); }
  static void suspend(HoldState& hold, bool suspended) { hold.suspended_.store(suspended, std::memory_order_release); }
  static void lose(HoldState& hold) { hold.lost_.store(true, std::memory_order_release); }
};

}  // namespace coordkit

// The life of an acquire, from the entry of its call until nothing of it is left, as states and events. Acquires performs the
// actions. A caller may leave at any time; an acquire that is in the log is then pursued until it is certain that it holds
// nothing (docs/semantics.md S-59).
//
//   Entered ---------------> Submitted --> Queued ------> Done
//      |                      ^      |        |             ^
//      +----> InLine ---------+   the caller leaves         |
//                                    |        |             |
//                                    v        v             |
//                               Unwanted --> Cancelling --> Cancelled
//
//   Submitted to Cancelled --outcome unknown--> Orphaned --cancel answered--> Done
//
// Pure functions.
#pragma once

#include <cstdint>

namespace coordkit::client {

enum class AcquireState : uint8_t {
  Entered,     // not in the log: it waits for its turn, for room or for a confirmed read
  InLine,      // not in the log: it waits in the line of its sticky lock (S-58)
  Submitted,   // in the log, as far as known; it has no number yet, so no cancel could name it
  Unwanted,    // the same, and its caller has left or cancels
  Queued,      // the log has answered that it waits
  Cancelling,  // the same, and a cancel is on its way
  Cancelled,   // the cancel was answered; the answer to the acquire itself is on its way and counts
  Orphaned,    // the engine has stopped pursuing it, outcome unknown: the answer to a cancel counts
  Done,
};

enum class AcquireEvent : uint8_t {
  Joined,           // the line of its sticky lock
  Sent,             // to the log
  Waits,            // the log has queued it
  Ended,            // with a grant or a refusal, or certainly without an effect
  OutcomeUnknown,   // the engine gave up, and a cancel can still find out
  CallerLeaves,     // cancels, or its call has ended
  CancelAnswered,   // by the log
  CancelUnanswered  // and never will be
};

enum class AcquireAction : uint8_t {
  None,
  PostCancel,
  RepeatCancel,  // after a pause
};

struct AcquireStep {
  AcquireState next;
  AcquireAction action = AcquireAction::None;
  friend bool operator==(const AcquireStep&, const AcquireStep&) = default;
};

// The log decides how it ends.
constexpr bool in_log(AcquireState state) { return state >= AcquireState::Submitted && state != AcquireState::Done; }
// A cancel is on its way, or has to be sent again.
constexpr bool is_cancelled(AcquireState state) { return state == AcquireState::Cancelling || state == AcquireState::Orphaned; }

constexpr AcquireStep step_of_caller_leaving(AcquireState state) {
  using State = AcquireState;
  if (state == State::Submitted) return {State::Unwanted};
  if (state == State::Queued) return {State::Cancelling, AcquireAction::PostCancel};
  return {in_log(state) ? state : State::Done};
}

constexpr AcquireStep step_of_unknown_outcome(AcquireState state) {
  using State = AcquireState;
  if (!in_log(state)) return {state};
  return {State::Orphaned, is_cancelled(state) ? AcquireAction::None : AcquireAction::PostCancel};
}

// The answer to the acquire itself counts as long as it may come.
constexpr AcquireStep step_of_cancel_answered(AcquireState state) {
  using State = AcquireState;
  if (state == State::Orphaned) return {State::Done};
  return {state == State::Cancelling ? State::Cancelled : state};
}

constexpr AcquireStep step(AcquireState state, AcquireEvent event) {
  using State = AcquireState;
  using Event = AcquireEvent;
  switch (event) {
    case Event::Joined: return {state == State::Entered ? State::InLine : state};
    case Event::Sent: return {state == State::Entered || state == State::InLine ? State::Submitted : state};
    case Event::Waits:
      if (state == State::Unwanted) return {State::Cancelling, AcquireAction::PostCancel};
      return {state == State::Submitted ? State::Queued : state};
    case Event::Ended: return {state == State::Orphaned ? state : State::Done};
    case Event::OutcomeUnknown: return step_of_unknown_outcome(state);
    case Event::CallerLeaves: return step_of_caller_leaving(state);
    case Event::CancelAnswered: return step_of_cancel_answered(state);
    case Event::CancelUnanswered: return {state, is_cancelled(state) ? AcquireAction::RepeatCancel : AcquireAction::None};
  }
  return {state};
}

}  // namespace coordkit::client

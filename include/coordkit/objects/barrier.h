// Two barriers. A Barrier is a gate that one session closes and opens for all. A DoubleBarrier is
// passed by n parties together, in and out.
//
// Threads: all methods are thread-safe. Each of the two kinds has names of its own.
#pragma once

#include <cstdint>
#include <string>

#include "coordkit/client/coordination.h"
#include "coordkit/export.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

class Barrier {
 public:
  // The barrier `name` of this session. Makes no call.
  Barrier(Session session, std::string name) : session_(std::move(session)), name_(std::move(name)) {}

  // kAlreadyExists: it is closed. `at_end`: what happens to it when this session ends.
  absl::Status close(BarrierAtSessionEnd at_end = BarrierAtSessionEnd::Stays);
  absl::Status open();  // all who wait pass. kNotFound: it is not closed
  // Waits until it is open; returns at once if it is. kAborted (Broken: the closing session ended;
  // Lost), kDeadlineExceeded (WaitTimeout), kFailedPrecondition (Held: timeout zero and it is
  // closed).
  absl::Status wait(Duration timeout = kForever);

  absl::StatusOr<BarrierInfo> info() const;  // linearizable: closed or open, and its waits

  // The same without blocking. Callbacks run on the engine's thread, where nothing may block. How
  // to cancel a call: call.h.
  AsyncCall close_async(BarrierAtSessionEnd at_end, DoneCallback done);
  AsyncCall open_async(DoneCallback done);
  AsyncCall wait_async(Duration timeout, DoneCallback done);
  AsyncCall info_async(Callback<BarrierInfo> done) const;

 private:
  Session session_;
  std::string name_;
};

// A barrier that n parties pass together, in and out, again and again.
class DoubleBarrier {
 public:
  // `parties` must be the same for all. The `at_end` of the first party that enters counts.
  DoubleBarrier(Session session, std::string name, uint64_t parties, PartyAtSessionEnd at_end = PartyAtSessionEnd::Breaks)
      : session_(std::move(session)), name_(std::move(name)), parties_(parties), at_end_(at_end) {}

  // Waits until all parties have entered. The grant is the place inside; destroying it leaves
  // without a wait. With Shrinks, the barrier does not wait for a party that died, as long as
  // another party waits. After that the next cycle needs all parties again, so a party that repeats
  // short waits needs waits that overlap. A party whose session is resumed elsewhere has to enter
  // again. If that session ends before, nothing breaks or shrinks: give a timeout.
  // Errors: kResourceExhausted (TooManyParties: not all parties of the last cycle have left),
  // kInvalidArgument (another number of parties), kAborted (Broken, Lost), kDeadlineExceeded
  // (WaitTimeout), kFailedPrecondition (Held: timeout zero, and other parties are missing). After
  // an error the party counts as one that never entered.
  absl::StatusOr<Grant> enter(Duration timeout = kForever);
  // Leaves at once, then waits until all parties have left. Timeout zero: without a wait. The place
  // is invalid from this call on, whatever the answer except InCallback. The place may be destroyed
  // while the asynchronous form runs. kFailedPrecondition (NotOwner): it left before, or the
  // barrier broke. kDeadlineExceeded (WaitTimeout): it left, others have not.
  absl::Status leave(const Grant& place, Duration timeout = kForever);

  absl::StatusOr<DoubleBarrierInfo> info() const;  // linearizable: its parties, and its waits

  // The same without blocking. Callbacks run on the engine's thread, where nothing may block. How
  // to cancel a call: call.h.
  AsyncCall enter_async(Duration timeout, Callback<Grant> done);
  AsyncCall leave_async(const Grant& place, Duration timeout, DoneCallback done);
  AsyncCall info_async(Callback<DoubleBarrierInfo> done) const;

 private:
  Session session_;
  std::string name_;
  uint64_t parties_;
  PartyAtSessionEnd at_end_;
};

}  // namespace coordkit

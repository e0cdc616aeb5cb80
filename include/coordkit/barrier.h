// Two barriers: a gate that one closes and opens for all, and a double barrier that n parties pass together, in and out.
//
// Threads: all methods are thread-safe. Names of the two are spaces of their own.
#pragma once

#include <cstdint>
#include <string>

#include "coordkit/client/coordination.h"
#include "coordkit/export.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

class Barrier {
 public:
  Barrier(Session session, std::string name) : session_(std::move(session)), name_(std::move(name)) {}

  // kAlreadyExists: it is closed. `at_end`: what becomes of it when this session ends.
  absl::Status close(BarrierAtSessionEnd at_end = BarrierAtSessionEnd::Stays);
  absl::Status open();  // everybody who waits passes. kNotFound: it is not closed
  // Until it is open; at once if it is. kAborted (Broken: by the end of the closing session; Lost), kDeadlineExceeded
  // (WaitTimeout), kFailedPrecondition (Held: timeout zero and it is closed).
  absl::Status wait(Duration timeout = kForever);

  absl::StatusOr<BarrierInfo> info() const;  // linearizable

  // The same without blocking. Answered on the engine's thread, where nothing may block; to cancel one: call.h.
  AsyncCall close_async(BarrierAtSessionEnd at_end, DoneCallback done);
  AsyncCall open_async(DoneCallback done);
  AsyncCall wait_async(Duration timeout, DoneCallback done);
  AsyncCall info_async(Callback<BarrierInfo> done) const;

 private:
  Session session_;
  std::string name_;
};

class DoubleBarrier {
 public:
  // `parties` must be the same for all; `at_end` of the first who enters counts.
  DoubleBarrier(Session session, std::string name, uint64_t parties, PartyAtSessionEnd at_end = PartyAtSessionEnd::Breaks)
      : session_(std::move(session)), name_(std::move(name)), parties_(parties), at_end_(at_end) {}

  // Until all have entered. The grant is the place inside; its end leaves without a wait. kResourceExhausted (TooManyParties:
  // not all of the last cycle have left), kInvalidArgument (another number of parties), kAborted (Broken, Lost),
  // kDeadlineExceeded (WaitTimeout), kFailedPrecondition (Held: timeout zero, and others are missing): it was never there. With
  // Shrinks a party that died is not waited for as long as another one waits; after that the next cycle needs all of them
  // again: who repeats short waits needs waits that overlap. A party whose session is resumed elsewhere has to enter again; if
  // it ends before, nothing breaks or shrinks: give a timeout.
  absl::StatusOr<Grant> enter(Duration timeout = kForever);
  // Leaves at once and waits until all have left; zero: without a wait. Not valid from this call on, whatever it answers but
  // InCallback; the place may go while the asynchronous form is under way.
  // kFailedPrecondition (NotOwner): left before, or the barrier broke. kDeadlineExceeded (WaitTimeout): left, others have not.
  absl::Status leave(const Grant& place, Duration timeout = kForever);

  absl::StatusOr<DoubleBarrierInfo> info() const;  // linearizable

  // The same without blocking. Answered on the engine's thread, where nothing may block; to cancel one: call.h.
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

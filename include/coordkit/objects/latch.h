// A count that only falls, and waits for zero: "all parts of the job are done". It stays until
// remove(), also at zero.
//
// A count-down stays counted when its process dies.
//
// Threads: all methods are thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "coordkit/client/coordination.h"
#include "coordkit/export.h"
#include "coordkit/objects/observation.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

class Latch {
 public:
  // The latch `name` of this session. Makes no call.
  Latch(Session session, std::string name) : session_(std::move(session)), name_(std::move(name)) {}

  absl::Status create(uint64_t count);  // 1 and up. kAlreadyExists: it exists, whatever its count
  // Answers the remaining count, which is never below zero. kNotFound. kDeadlineExceeded
  // (CallTimeout): it may have counted.
  absl::StatusOr<uint64_t> count_down(uint64_t by = 1);
  // Waits until it is zero. kDeadlineExceeded (WaitTimeout), kFailedPrecondition (Held: timeout
  // zero), kAborted (Lost), kNotFound.
  absl::Status wait(Duration timeout = kForever);
  absl::Status remove();  // deletes it, and ends all waits with kNotFound

  absl::StatusOr<LatchInfo> info() const;  // linearizable: its count, and its waits
  // Every change of the count.
  [[nodiscard]] Observation observe(Observer<LatchSeen> observer) const;

  // The same without blocking. Callbacks run on the engine's thread, where nothing may block. How
  // to cancel a call: call.h.
  AsyncCall create_async(uint64_t count, DoneCallback done);
  AsyncCall count_down_async(uint64_t by, Callback<uint64_t> done);
  AsyncCall wait_async(Duration timeout, DoneCallback done);
  AsyncCall remove_async(DoneCallback done);
  AsyncCall info_async(Callback<LatchInfo> done) const;

 private:
  Session session_;
  std::string name_;
};

}  // namespace coordkit

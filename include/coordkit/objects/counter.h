// A signed 64-bit number, zero until it is changed. It is also a source of numbers that are given
// out only once.
//
// Each call takes effect exactly once: a call that the library repeats never counts twice. A call
// that ends with CallTimeout may or may not have counted. A counter belongs to no session and to no
// lock. For a number that only the holder of a lock may change, use a key, put with
// ProposeOptions::fence.
//
// Threads: all methods are thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "coordkit/client/coordination.h"
#include "coordkit/export.h"
#include "coordkit/objects/observation.h"
#include "coordkit/service.h"

namespace COORDKIT_EXPORT coordkit {

class Counter {
 public:
  // The counter `name`. Makes no call.
  Counter(const Service& service, std::string name);
  // Works at the replica of this session. The session matters in nothing else.
  Counter(const Session& session, std::string name);

  // Each of these answers the new value. kOutOfRange (CounterOverflow): unchanged.
  absl::StatusOr<int64_t> add(int64_t by = 1);
  absl::StatusOr<int64_t> set(int64_t value);
  absl::StatusOr<SwapResult> compare_and_set(int64_t expected, int64_t value);
  // Answers the first of `count` (1 and up) consecutive numbers, which begin at 1. Unused numbers
  // are lost.
  absl::StatusOr<int64_t> allocate(int64_t count = 1);
  absl::Status remove();  // deletes it: it then counts as zero. kNotFound

  // Linearizable; zero if there is no such counter.
  absl::StatusOr<int64_t> get() const;
  [[nodiscard]] Observation observe(Observer<CounterSeen> observer) const;  // every change

  // The same without blocking. Callbacks run on the engine's thread, where nothing may block. How
  // to cancel a call: call.h.
  AsyncCall add_async(int64_t by, Callback<int64_t> done);
  AsyncCall set_async(int64_t value, Callback<int64_t> done);
  AsyncCall compare_and_set_async(int64_t expected, int64_t value, Callback<SwapResult> done);
  AsyncCall allocate_async(int64_t count, Callback<int64_t> done);
  AsyncCall remove_async(DoneCallback done);
  AsyncCall get_async(Callback<int64_t> done) const;

 private:
  std::shared_ptr<class CallRunner> host_;  // null: made from a handle without a session
  std::string name_;
};

}  // namespace coordkit

// A number of 64 bits with a sign, zero until it is changed; also a source of numbers that nobody else is given.
//
// Each call takes effect exactly once, so a call that the library repeats never counts twice; a call that ends with
// CallTimeout may or may not have counted. Bound to no session. Threads: all methods are thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "coordkit/client/coordination.h"
#include "coordkit/observation.h"
#include "coordkit/replica.h"

namespace coordkit {

class Counter {
 public:
  Counter(const Replica& replica, std::string name);

  // Each answers the new value. kOutOfRange (CounterOverflow): unchanged.
  absl::StatusOr<int64_t> add(int64_t by = 1);
  absl::StatusOr<int64_t> set(int64_t value);
  absl::StatusOr<SwapResult> compare_and_set(int64_t expected, int64_t value);
  // The first of `count` (1 and up) consecutive numbers, from 1 on. Those that are not used are lost.
  absl::StatusOr<int64_t> allocate(int64_t count = 1);
  void add_async(int64_t by, Callback<int64_t> done);  // answered on the engine's thread
  absl::Status remove();                               // kNotFound

  absl::StatusOr<int64_t> get() const;  // linearizable
  [[nodiscard]] Observation observe(Observer<CounterSeen> observer) const;

 private:
  std::shared_ptr<class Host> host_;
  std::string name_;
};

}  // namespace coordkit

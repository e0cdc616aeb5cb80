// One operation of a history as its caller saw it: the moments of its call and its end, the request and the answer. Nothing
// in it tells in which order the service executed it; the search finds that out.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

namespace coordkit::check {

using Moment = int64_t;  // on the one clock of the history, in a unit of its choice
inline constexpr Moment kNever = std::numeric_limits<Moment>::max();

enum class Outcome : uint8_t {
  Ok,       // it took effect between call and end, exactly once, and the answer said so
  Refused,  // it never had an effect; the answer carries no information
  Unknown,  // it took effect at some moment after its call, or not at all
};

// `Call` is the model's: the request, and the answer if the outcome is Ok.
template <typename Call>
struct Operation {
  uint64_t number = 0;  // place in the history, from 1; its line
  std::string client;
  std::string key;
  Moment call = 0;
  Moment end = kNever;  // Ok: call <= end < kNever. Otherwise without meaning
  Outcome outcome = Outcome::Ok;
  Call what;

  bool certain() const { return outcome == Outcome::Ok; }
};

// Shared because the operations in progress, the window kept for a counterexample and copies of both name the same operation.
template <typename Call>
using OperationRef = std::shared_ptr<const Operation<Call>>;

}  // namespace coordkit::check

// A model is the sequential object with which a history is compared. It is a pure class with
//
//   kName                what --model is called; kTakes: the values of a line's "model" that mean it
//   kByKey               operations on different keys are independent (P-compositionality)
//   Call                 the request and the answer; ==
//   State                ==, AbslHashValue; small, because searches copy it
//   initial(settings)    the State before everything
//   read(op, in, out, client, outcome), write(call, in, out), name_of(call)   Call from and to a line
//   observes(call)       true if it never changes a state. If its outcome is unknown it is ignored
//   step(state, op)      whether it can come next in this state, with the answer that its caller got
//   apply(state, op, way)    makes it so; `way` counts from 0 where the state after is not determined
//   text(state)          for a reader
//   bond(op), severable  see `Unbound` below
//   Order                see order.h
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "check/operation.h"

namespace coordkit::check {

struct Settings {
  uint64_t semaphore_limit = 1;  // permits before the first set_limit
  uint64_t revision = 1;         // of the store before the first change
};

struct Step {
  uint32_t ways = 0;   // states it can lead to; 0: not now
  bool idle = false;   // taking it now excludes nothing that would be possible otherwise (a read that changes no state)
  bool never = false;  // neither now nor in any state that can follow
};
inline constexpr Step kNotNow{};
inline constexpr Step kNotEver{.never = true};
inline constexpr Step kPossible{.ways = 1};
inline constexpr Step kIdle{.ways = 1, .idle = true};

// Decides which operations may be removed from a counterexample without invalidating it as a proof: the rest must fail only
// if the whole does. An observing operation may always be removed. Others may be removed as a group of one bond, if according
// to the model any legal order of the whole stays legal without it. By default none may.
struct Unbound {
  template <typename Op>
  static std::optional<std::string> bond(const Op&) {
    return std::nullopt;
  }
  template <typename Op>
  static bool severable(std::span<const OperationRef<Op>>, std::span<const OperationRef<Op>>) {
    return false;
  }
};

// Whether `op` can be removed as far as outcomes are concerned: its answer tells nothing, and no other operation can see it.
template <typename Model>
bool of_no_account(const Operation<typename Model::Call>& op) {
  return op.outcome == Outcome::Refused || (op.outcome == Outcome::Unknown && Model::observes(op.what));
}

}  // namespace coordkit::check

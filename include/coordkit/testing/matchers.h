// Matchers of GoogleTest for coordkit's answers, in tests of code that uses it:
//
//   EXPECT_THAT(session.acquire("billing", {.timeout = 1s}), IsHeld());
//   EXPECT_THAT(session.try_acquire("billing"), Refuses(Reason::Held));
//   EXPECT_THAT(run_the_code_under_test(session),
//               AnyOf(Succeeds(), HasOutcome(Outcome::NoEffect)));
//
// Each takes an absl::Status or an absl::StatusOr; IsHeld also a Grant. Link coordkit::testing and
// GTest::gmock.
// Example: tests/unit/testing/fake_session_test.cc.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/error.h"
#include "coordkit/session.h"

namespace coordkit::testkit {

// The status of either kind of answer, which all matchers below look at.
inline const absl::Status& status_in(const absl::Status& status) { return status; }
// The same, for an answer with a value.
template <typename T>
const absl::Status& status_in(const absl::StatusOr<T>& answer) {
  return answer.status();
}

// The status is OK.
MATCHER(Succeeds, negation ? "is refused" : "succeeds") {
  *result_listener << status_in(arg).ToString();
  return status_in(arg).ok();
}

// Refused with this Reason, such as Reason::Held.
MATCHER_P(Refuses, reason, std::string(negation ? "is not refused" : "is refused") + ": " + std::string(name_of(reason))) {
  *result_listener << status_in(arg).ToString();
  return reason_of(status_in(arg)) == reason;
}

// NONE: a retry is safe. UNKNOWN: it may have taken effect.
MATCHER_P(HasOutcome, outcome,
          std::string(negation ? "has not the outcome " : "has the outcome ") + std::string(name_of(outcome))) {
  *result_listener << status_in(arg).ToString() << ", of outcome " << std::string(name_of(outcome_of(status_in(arg))));
  return outcome_of(status_in(arg)) == outcome;
}

// Granted, and may still be trusted by its holder's clock.
MATCHER(IsHeld, negation ? "is not held" : "is held") {
  if constexpr (std::is_same_v<std::decay_t<decltype(arg)>, Grant>) {
    *result_listener << (arg.valid() ? "it is valid" : "it is not valid (any more)");
    return arg.valid();
  } else {
    if (!arg.ok()) return *result_listener << arg.status().ToString(), false;
    *result_listener << (arg->valid() ? "it is valid" : "it was granted, but is not valid any more");
    return arg->valid();
  }
}

}  // namespace coordkit::testkit

#include "coordkit/error.h"

#include <gtest/gtest.h>

namespace coordkit {
namespace {

TEST(ErrorTest, ReasonAndOutcomeSurviveInTheStatus) {
  const absl::Status status = make_error(Reason::WaitTimeout, "nobody released it in time");
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(reason_of(status), Reason::WaitTimeout);
  EXPECT_EQ(outcome_of(status), Outcome::Done);
  EXPECT_EQ(status.message(), "WaitTimeout: nobody released it in time");
}

TEST(ErrorTest, OutcomeCanDifferFromTheUsualOne) {
  EXPECT_EQ(outcome_of(make_error(Reason::Stopped, Outcome::Unknown, "closed")), Outcome::Unknown);
}

TEST(ErrorTest, ForeignStatusHasNoReasonAndUnknownOutcome) {
  EXPECT_EQ(reason_of(absl::InternalError("x")), std::nullopt);
  EXPECT_EQ(outcome_of(absl::InternalError("x")), Outcome::Unknown);
  EXPECT_EQ(outcome_of(absl::OkStatus()), Outcome::Done);
}

}  // namespace
}  // namespace coordkit

#include "coordkit/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/with_reason.h"
#include "tests/support/sentence.h"

namespace coordkit {
namespace {

constexpr auto kFirst = static_cast<uint16_t>(Reason::EmptyKey), kLast = static_cast<uint16_t>(Reason::OutOfMemory);

TEST(ErrorTest, ReasonAndOutcomeSurviveInTheStatus) {
  const absl::Status status = make_error(Reason::WaitTimeout, "nobody released it in time");
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(reason_of(status), Reason::WaitTimeout);
  EXPECT_EQ(outcome_of(status), Outcome::Done);
  EXPECT_EQ(status.message(), "WaitTimeout: nobody released it in time");
  EXPECT_EQ(sentence_of(status), "nobody released it in time");
}

TEST(ErrorTest, AStatusPrintsAsASentence) {
  EXPECT_EQ(make_error(Reason::Held, "somebody else holds \"billing\"; try later").ToString(),
            "FAILED_PRECONDITION: Held: somebody else holds \"billing\"; try later");
  EXPECT_EQ(make_error(Reason::Stopped, Outcome::Unknown, "the replica was closed").ToString(),
            "UNAVAILABLE: Stopped (may have taken effect): the replica was closed");
}

TEST(ErrorTest, EveryReasonAndOutcomeIsReadBackFromCodeAndMessageAlone) {
  std::set<std::string_view> names;
  for (uint16_t number = kFirst; number <= kLast; ++number) {
    const auto reason = static_cast<Reason>(number);
    EXPECT_TRUE(names.insert(name_of(reason)).second) << number;
    for (const Outcome outcome : {Outcome::NoEffect, Outcome::Unknown, Outcome::Done}) {
      const absl::Status made = make_error(reason, outcome, "the sentence says what to do: \"Colour: a name\"");
      const absl::Status carried(made.code(), made.message());  // through another process, say
      EXPECT_EQ(reason_of(carried), reason);
      EXPECT_EQ(outcome_of(carried), outcome) << name_of(reason);
      EXPECT_EQ(sentence_of(carried), "the sentence says what to do: \"Colour: a name\"");
      EXPECT_EQ(testkit::fault_of_sentence(made), "");
    }
  }
  EXPECT_EQ(name_of(static_cast<Reason>(kLast + 1)), "?");
  EXPECT_EQ(name_of(static_cast<Reason>(0)), "?");
}

TEST(ErrorTest, AReasonIsNotSaidTwice) {
  const absl::Status inner = make_error(Reason::InvalidArgument, Outcome::Unknown, "the name is empty");
  const absl::Status outer =
      make_error(Reason::InvalidArgument, std::string_view(inner.message().data(), inner.message().size()));
  EXPECT_EQ(outer.message(), "InvalidArgument: the name is empty");
  EXPECT_EQ(make_error(Reason::Corrupt, "Held: x").message(), "Corrupt: x");
  EXPECT_EQ(make_error(Reason::Corrupt, "Heldover: x").message(), "Corrupt: Heldover: x");
}

TEST(ErrorTest, ForeignStatusHasNoReasonAndUnknownOutcome) {
  for (const absl::Status& foreign :
       {absl::InternalError("x"), absl::InternalError("Held: of another code"), absl::FailedPreconditionError("Held"),
        absl::FailedPreconditionError("held: x"), absl::FailedPreconditionError("Held (why): x"),
        absl::FailedPreconditionError(""), absl::FailedPreconditionError(": x")}) {
    EXPECT_EQ(reason_of(foreign), std::nullopt) << foreign;
    EXPECT_EQ(outcome_of(foreign), Outcome::Unknown) << foreign;
    EXPECT_EQ(sentence_of(foreign), std::string_view(foreign.message().data(), foreign.message().size()));
  }
  EXPECT_EQ(reason_of(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(outcome_of(absl::OkStatus()), Outcome::Done);
}

TEST(ErrorTest, AStatusWithoutAReasonGetsTheReasonOfItsCode) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status = with_reason(absl::Status(static_cast<absl::StatusCode>(code), "a row that does not decode"));
    EXPECT_NE(reason_of(status), std::nullopt) << code;
    EXPECT_EQ(sentence_of(status), "a row that does not decode");
  }
  const absl::Status ours = make_error(Reason::Held, "somebody has it");
  EXPECT_EQ(with_reason(ours), ours);
  EXPECT_TRUE(with_reason(absl::OkStatus()).ok());
}

// ---- as std::error_code

TEST(ErrorCategoryTest, AReasonIsAnErrorCodeAndAConditionOfTheStandards) {
  const std::error_code code = Reason::WaitTimeout;
  EXPECT_EQ(code, Reason::WaitTimeout);
  EXPECT_NE(code, Reason::Held);
  EXPECT_STREQ(code.category().name(), "coordkit");
  EXPECT_EQ(code.message(), "WaitTimeout");
  EXPECT_EQ(code, std::errc::timed_out);
  EXPECT_EQ(std::error_code(Reason::Closed), std::errc::owner_dead);
  EXPECT_EQ(std::error_code(Reason::NoLeader), std::errc::resource_unavailable_try_again);
  EXPECT_EQ(std::error_code(Reason::Deadlock), std::errc::resource_deadlock_would_occur);
  EXPECT_EQ(std::error_code(Reason::InCallback), std::errc::resource_deadlock_would_occur);
  EXPECT_EQ(std::error_code(Reason::InvalidArgument), std::errc::invalid_argument);
}

TEST(ErrorCategoryTest, ANumberThatIsNoReasonIsNoConditionEither) {
  const std::error_code code(kLast + 1, error_category());
  EXPECT_EQ(code.message(), "?");
  EXPECT_EQ(code.default_error_condition().category(), error_category());
}

}  // namespace
}  // namespace coordkit

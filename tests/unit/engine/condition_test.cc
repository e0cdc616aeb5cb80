// A replica's refusals and its reports to its callers, by its condition and by its limits.
#include "engine/loop/condition.h"

#include <gtest/gtest.h>

#include "coordkit/error.h"

namespace coordkit::engine {
namespace {

class ConditionTest : public ::testing::Test {
 protected:
  Reason refusal(const Load& load = {}, Urgency urgency = Urgency::Normal, size_t bytes = 1) {
    return *reason_of(condition_.refusal(urgency, bytes, load, nullptr));
  }

  EngineOptions options_;
  Condition condition_{options_};
};

TEST_F(ConditionTest, ACallThatFitsIsTaken) { EXPECT_TRUE(condition_.refusal(Urgency::Normal, 1, {}, nullptr).ok()); }

TEST_F(ConditionTest, TheGravestStateIsNamed) {
  const std::string uninvited = "it is not invited";
  EXPECT_EQ(reason_of(condition_.refusal(Urgency::Normal, 1, {}, &uninvited)), Reason::NotMember);
  condition_.quarantine("digests differ");
  EXPECT_EQ(refusal(), Reason::NotReady);
  condition_.set_removed(true);
  EXPECT_EQ(refusal(), Reason::Removed);
  condition_.halt("the disk failed");
  EXPECT_EQ(refusal(), Reason::ReplicaFailed);
}

TEST_F(ConditionTest, ReservedCallsHaveRoomToThemselves) {
  const Load full{.requests = options_.requests_max, .bytes = options_.request_bytes_in_flight_max};
  EXPECT_EQ(refusal(full), Reason::TooManyRequests);
  EXPECT_TRUE(condition_.refusal(Urgency::Reserved, 1, full, nullptr).ok());
  const Load over{.bytes = full.bytes + full.bytes / 4};
  EXPECT_EQ(refusal(over, Urgency::Reserved), Reason::TooManyRequests);
}

TEST_F(ConditionTest, ANearlyFullDiskAndALaggingVoterRefuseNewCommandsOnly) {
  EXPECT_EQ(reason_of(condition_.refusal_of_command(Urgency::Normal, /*holds_back=*/true)), Reason::TooManyRequests);
  EXPECT_TRUE(condition_.refusal_of_command(Urgency::Reserved, true).ok());
  condition_.set_log_space(LogSpace::Low);
  EXPECT_EQ(reason_of(condition_.refusal_of_command(Urgency::Normal, false)), Reason::NoSpace);
  EXPECT_TRUE(condition_.refusal_of_command(Urgency::Reserved, false).ok());
}

}  // namespace
}  // namespace coordkit::engine

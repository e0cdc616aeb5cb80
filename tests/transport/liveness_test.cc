#include "transport/liveness.h"

#include <gtest/gtest.h>

namespace coordkit::tcp {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint at(Duration time) { return TimePoint(1h) + time; }

struct LivenessTest : ::testing::Test {
  Liveness liveness{at(0s), 5s, 3s};
};

TEST_F(LivenessTest, TheHelloHasItsTimeAndSilenceToo) {
  EXPECT_FALSE(liveness.hello_late(at(5s)));
  EXPECT_TRUE(liveness.hello_late(at(5001ms)));
  liveness.received(at(4s));
  EXPECT_FALSE(liveness.silent(at(7s)));
  EXPECT_TRUE(liveness.silent(at(7001ms)));
}

TEST_F(LivenessTest, APauseOfThisEndIsNotThePeersSilence) {
  liveness.excuse(10s);
  EXPECT_FALSE(liveness.hello_late(at(15s)));
  EXPECT_TRUE(liveness.hello_late(at(15001ms)));
  EXPECT_FALSE(liveness.silent(at(13s)));
  EXPECT_TRUE(liveness.silent(at(13001ms)));
}

TEST_F(LivenessTest, APingIsDueThreeTimesInAnIdleTimeout) {
  EXPECT_FALSE(liveness.ping_due(at(999ms)));
  EXPECT_TRUE(liveness.ping_due(at(1s)));
  liveness.pinged(at(1s), 0);
  EXPECT_FALSE(liveness.ping_due(at(1999ms)));
}

TEST_F(LivenessTest, ABacklogMovesIfMoreOfItIsAcknowledgedThanAtThePing) {
  EXPECT_FALSE(liveness.backlog_moves(0)) << "there is none";
  liveness.wrote(100);
  liveness.pinged(at(1s), 60);
  EXPECT_FALSE(liveness.backlog_moves(60));
  EXPECT_TRUE(liveness.backlog_moves(59));
  EXPECT_FALSE(liveness.backlog_moves(0)) << "without one, an acknowledgement proves nothing";
}

TEST_F(LivenessTest, ItIsEstablishedWhenItsLastBytesCame) {
  EXPECT_EQ(liveness.established_at(), TimePoint());
  liveness.received(at(2s));
  liveness.established();
  EXPECT_EQ(liveness.established_at(), at(2s));
}

}  // namespace
}  // namespace coordkit::tcp

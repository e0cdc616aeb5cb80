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
  liveness.pinged(at(1s));
  EXPECT_FALSE(liveness.ping_due(at(1999ms)));
}

TEST_F(LivenessTest, ABacklogMovesForAnIdleTimeoutAfterMoreOfItWasAcknowledged) {
  EXPECT_FALSE(liveness.backlog_moves(at(1s), 0)) << "there is none";
  liveness.wrote(100);
  EXPECT_TRUE(liveness.backlog_moves(at(2s), 60));
  EXPECT_TRUE(liveness.backlog_moves(at(5s), 60));
  EXPECT_FALSE(liveness.backlog_moves(at(5001ms), 60));
  EXPECT_TRUE(liveness.backlog_moves(at(6s), 59));
  EXPECT_FALSE(liveness.backlog_moves(at(6s), 0)) << "without one, an acknowledgement proves nothing";
}

// One that was just pinged is not judged by the moment since then.
TEST_F(LivenessTest, APingDoesNotEndTheTimeOfABacklog) {
  liveness.wrote(100);
  EXPECT_TRUE(liveness.backlog_moves(at(3s), 50));
  liveness.pinged(at(3s));
  EXPECT_TRUE(liveness.backlog_moves(at(3250ms), 50));
}

// The kernel counts the parts of a write at once, this end when it hears of them.
TEST_F(LivenessTest, WhatIsNotCountedYetNeitherMovesABacklogNorOutweighsIt) {
  EXPECT_FALSE(liveness.backlog_moves(at(1s), 1000)) << "more than was counted";
  liveness.wrote(1000);
  EXPECT_FALSE(liveness.backlog_moves(at(2s), 1000)) << "nothing is acknowledged";
  EXPECT_TRUE(liveness.backlog_moves(at(3s), 990));
  EXPECT_TRUE(liveness.backlog_moves(at(4s), 5000)) << "a part was added, nothing acknowledged: not less than before";
  EXPECT_FALSE(liveness.backlog_moves(at(7s), 5000));
}

TEST_F(LivenessTest, APauseOfThisEndIsNoStandstillOfABacklog) {
  liveness.wrote(100);
  EXPECT_TRUE(liveness.backlog_moves(at(1s), 50));
  liveness.excuse(10s);
  EXPECT_TRUE(liveness.backlog_moves(at(14s), 50));
  EXPECT_FALSE(liveness.backlog_moves(at(14001ms), 50));
}

TEST_F(LivenessTest, ItIsEstablishedWhenItsLastBytesCame) {
  EXPECT_EQ(liveness.established_at(), TimePoint());
  liveness.received(at(2s));
  liveness.established();
  EXPECT_EQ(liveness.established_at(), at(2s));
}

}  // namespace
}  // namespace coordkit::tcp

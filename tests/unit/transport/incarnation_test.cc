#include "transport/incarnation.h"

#include <gtest/gtest.h>

#include "base/backoff.h"

namespace coordkit {
namespace {

using Verdict = IncarnationGuard::Verdict;
using std::chrono::seconds;

constexpr auto kConnected = true;
constexpr auto kAlone = false;
const IncarnationGuard::TimePoint kStart{};

Incarnation one(uint64_t store, uint64_t boot, uint64_t instance) { return {StoreId(store), BootCounter(boot), instance}; }

TEST(IncarnationTest, TheSameProcessMayConnectAgain) {
  IncarnationGuard guard(seconds(30));
  EXPECT_EQ(guard.judge(one(1, 1, 5), kAlone, kStart), Verdict::Admit);
  EXPECT_EQ(guard.judge(one(1, 1, 5), kConnected, kStart), Verdict::Admit);
}

TEST(IncarnationTest, AnyoneIsAdmittedWhenNobodyIsConnected) {
  IncarnationGuard guard(seconds(30));
  EXPECT_EQ(guard.judge(one(1, 5, 5), kAlone, kStart), Verdict::Admit);
  EXPECT_EQ(guard.judge(one(1, 4, 6), kAlone, kStart), Verdict::Admit) << "a rolled-back disk is the engine's to judge";
  EXPECT_EQ(guard.judge(one(2, 1, 7), kAlone, kStart), Verdict::Admit);
}

// Covers: FLT_P18
TEST(IncarnationTest, WhoIsConnectedDecides) {
  IncarnationGuard guard(seconds(30));
  guard.judge(one(1, 5, 5), kAlone, kStart);
  EXPECT_EQ(guard.judge(one(1, 4, 6), kConnected, kStart), Verdict::RefuseOlder);
  EXPECT_EQ(guard.judge(one(2, 9, 7), kConnected, kStart), Verdict::RefuseOther);
  EXPECT_EQ(guard.judge(one(1, 6, 8), kConnected, kStart), Verdict::Succeed);
  EXPECT_EQ(guard.judge(one(1, 5, 5), kConnected, kStart), Verdict::RefuseOlder);
  guard.prefer(StoreId(2));
  EXPECT_EQ(guard.judge(one(2, 1, 9), kConnected, kStart), Verdict::Succeed) << "membership names the other disk";
  EXPECT_EQ(guard.judge(one(1, 7, 10), kConnected, kStart), Verdict::RefuseOther);
}

// Covers: FLT_P18
TEST(IncarnationTest, CopiesAreRefusedUntilARestartOrUntilOnlyOneIsHeard) {
  IncarnationGuard guard(seconds(30));
  guard.judge(one(1, 5, 111), kAlone, kStart);
  EXPECT_EQ(guard.judge(one(1, 5, 222), kConnected, kStart), Verdict::RefuseBoth);
  EXPECT_EQ(guard.judge(one(1, 5, 111), kAlone, kStart + seconds(20)), Verdict::RefuseBoth);
  EXPECT_EQ(guard.judge(one(1, 5, 222), kAlone, kStart + seconds(40)), Verdict::RefuseBoth) << "both were heard";
  EXPECT_EQ(guard.judge(one(1, 5, 222), kAlone, kStart + seconds(60)), Verdict::RefuseBoth);
  EXPECT_EQ(guard.judge(one(1, 5, 222), kAlone, kStart + seconds(71)), Verdict::Admit) << "the other has fallen silent";

  IncarnationGuard resolved(seconds(30));
  resolved.judge(one(1, 5, 111), kAlone, kStart);
  resolved.judge(one(1, 5, 222), kConnected, kStart);
  EXPECT_EQ(resolved.judge(one(1, 6, 333), kAlone, kStart), Verdict::Admit);
}

// Covers: FLT_N07 FLT_N15
TEST(BackoffTest, DoublesToItsCapWithJitterAndStartsOver) {
  using std::chrono::milliseconds;
  Random random(1);
  Backoff backoff(milliseconds(10), milliseconds(1000));
  for (int round = 0; round < 2; ++round) {
    Duration limit = milliseconds(10);
    for (int i = 0; i < 12; ++i) {
      const Duration delay = backoff.next(random);
      EXPECT_GE(delay, limit / 2);
      EXPECT_LE(delay, limit);
      limit = std::min<Duration>(2 * limit, milliseconds(1000));
    }
    backoff.reset();
  }
  Backoff one(milliseconds(1000), milliseconds(1000)), other(milliseconds(1000), milliseconds(1000));
  EXPECT_NE(one.next(random), other.next(random));
}

}  // namespace
}  // namespace coordkit

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/random.h"
#include "coordkit/error.h"
#include "coordkit/locks/fence.h"

namespace coordkit {
namespace {

using enum FenceMode;

// Covers: S-55
TEST(FenceGateTest, ExclusiveAdmitsEqualOrNewerAndRefusesOlderWithTheNewest) {
  FenceGate gate;
  EXPECT_TRUE(gate.admit(Token(5)).ok());
  EXPECT_TRUE(gate.admit(Token(5)).ok()) << "the same holder comes again";
  EXPECT_TRUE(gate.admit(Token(9)).ok());
  const absl::Status refusal = gate.admit(Token(5));
  EXPECT_EQ(refusal.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(reason_of(refusal), Reason::Fenced);
  EXPECT_EQ(outcome_of(refusal), Outcome::NoEffect);
  EXPECT_EQ(fenced_by(refusal), Token(9));
  EXPECT_EQ(gate.state(), (FenceState{Token(9), Token(9)})) << "no state change";
}

// Covers: S-55
TEST(FenceGateTest, SharedHoldersPassEachOtherButNoNewerExclusiveOne) {
  FenceGate gate;
  EXPECT_TRUE(gate.admit(Token(4), Exclusive).ok());
  EXPECT_TRUE(gate.admit(Token(7), Shared).ok());
  EXPECT_TRUE(gate.admit(Token(6), Shared).ok()) << "an older reader of the same batch";
  EXPECT_EQ(fenced_by(gate.admit(Token(4), Shared)), Token(7)) << "equal to the last exclusive one";
  EXPECT_EQ(fenced_by(gate.admit(Token(6), Exclusive)), Token(7)) << "an exclusive one must be the newest of all";
  EXPECT_TRUE(gate.admit(Token(7), Exclusive).ok());
  EXPECT_FALSE(gate.admit(Token(7), Shared).ok());
}

TEST(FenceGateTest, TokenZeroIsInvalid) {
  FenceGate gate;
  EXPECT_EQ(gate.admit(Token()).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(fenced_by(gate.admit(Token())), std::nullopt);
  EXPECT_EQ(fenced_by(absl::OkStatus()), std::nullopt);
}

// Covers: INV_L14
TEST(FenceGateTest, RandomTokensMatchTheRuleInTwoLines) {
  Random random(5);
  FenceGate gate;
  uint64_t highest = 0, last_exclusive = 0;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t token = random.between(highest > 5 ? highest - 5 : 1, highest + 2);
    if (random.below(2) == 0) {
      const bool admitted = token >= highest;
      if (admitted) highest = last_exclusive = token;
      ASSERT_EQ(gate.admit(Token(token), Exclusive).ok(), admitted);
    } else {
      const bool admitted = token > last_exclusive;
      if (admitted) highest = std::max(highest, token);
      ASSERT_EQ(gate.admit(Token(token), Shared).ok(), admitted);
    }
    ASSERT_EQ(gate.state(), (FenceState{Token(highest), Token(last_exclusive)}));
  }
}

// Covers: S-55
TEST(FenceGateTest, ThreadsThatAdmitAtOnceNeverSeeTheGateFall) {
  FenceGate gate;
  std::vector<std::thread> threads;
  for (uint64_t which = 0; which < 4; ++which) {
    threads.emplace_back([&gate, which] {
      for (uint64_t i = 1; i < 2'000; ++i) {
        const Token token(4 * i + which);
        const bool admitted = gate.admit(token).ok();
        EXPECT_TRUE(!admitted || gate.state().highest >= token);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(gate.state().highest, Token(4 * 1'999 + 3));
}

}  // namespace
}  // namespace coordkit

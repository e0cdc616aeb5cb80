// Delegations in the lock table (docs/semantics.md S-58).
#include <gtest/gtest.h>

#include "lock/lock_table.h"

namespace coordkit::lock {
namespace {

using Kind = AcquireVerdict::Kind;

class StickyTest : public testing::Test {
 protected:
  AcquireVerdict acquire(uint64_t session, std::string_view name, uint64_t block = 0, bool waits = true,
                         std::string_view tag = "") {
    index_ = index_.next();
    const Wanted wanted{name, Mode::Exclusive};
    const AcquireVerdict verdict = table_.acquire({.index = index_,
                                                   .request = {{ReplicaId(1), {}, {}}, Sequence(index_.value())},
                                                   .session = SessionId(session),
                                                   .tag = tag,
                                                   .names = {&wanted, 1},
                                                   .texts = {},
                                                   .waits = waits,
                                                   .block = block},
                                                  counter_);
    decide_waits();
    return verdict;
  }
  void decide_waits() {
    decisions_ = {};
    table_.decide_waits(index_, counter_, decisions_);
  }
  bool release(uint64_t session, std::string_view name, Token token) {
    const bool released = table_.release({SessionId(session), std::nullopt, name, token});
    decide_waits();
    return released;
  }
  ClaimView holder(std::string_view name) {
    ClaimView found;
    table_.view().holders(name, [&found](const ClaimView& hold) { found = hold; });
    return found;
  }

  Table table_;
  TokenCounter counter_{1000};
  Index index_;
  Decisions decisions_;  // of the last step
};

// Covers: S-58
TEST_F(StickyTest, AGrantReservesItsBlockAndEveryLaterTokenIsAboveIt) {
  EXPECT_EQ(acquire(1, "a", 10).token, Token(1001));
  EXPECT_EQ(holder("a").block, (Block{10, Token(1001), Token(1010), Token(), false}));
  EXPECT_EQ(acquire(2, "b").token, Token(1011));
  EXPECT_EQ(acquire(2, "a").kind, Kind::Queued);
  EXPECT_TRUE(release(1, "a", Token(1001)));
  ASSERT_EQ(decisions_.waits.size(), 1u);
  EXPECT_EQ(decisions_.waits[0].token, Token(1012));
}

// Covers: S-58
TEST_F(StickyTest, WhoeverQueuesBehindADelegationAsksForItOnce) {
  acquire(1, "a", 10);
  EXPECT_TRUE(decisions_.asked.empty());
  acquire(2, "a");
  ASSERT_EQ(decisions_.asked.size(), 1u);
  EXPECT_EQ(decisions_.asked[0].session, SessionId(1));
  EXPECT_EQ(decisions_.asked[0].name, "a");
  EXPECT_EQ(decisions_.asked[0].token, Token(1001));
  acquire(3, "a");
  EXPECT_TRUE(decisions_.asked.empty());
  // The next one is granted with a waiter behind it, and has been asked for from its first moment on.
  release(1, "a", Token(1001));
  EXPECT_TRUE(decisions_.asked.empty());
  acquire(1, "a", 10);
  release(2, "a", Token(1011));
  EXPECT_TRUE(decisions_.asked.empty()) << "an ordinary hold is not asked";
  acquire(2, "a");
  release(3, "a", Token(1012));
  ASSERT_EQ(decisions_.asked.size(), 1u);
  EXPECT_EQ(decisions_.asked[0].token, Token(1013));
}

// Covers: S-58
TEST_F(StickyTest, ATryIsRefusedAndAsksAsWell) {
  acquire(1, "a", 10);
  EXPECT_EQ(acquire(2, "a", 0, /*waits=*/false).kind, Kind::Held);
  EXPECT_EQ(decisions_.asked.size(), 1u);
  EXPECT_TRUE(holder("a").block.asked);
  EXPECT_EQ(acquire(2, "a", 0, /*waits=*/false).kind, Kind::Held);
  EXPECT_TRUE(decisions_.asked.empty());
}

// Covers: S-58
TEST_F(StickyTest, ARefillKeepsTheHoldAndGivesItABlockAboveAllTokensBefore) {
  acquire(1, "a", 10);
  acquire(2, "b");
  EXPECT_EQ(table_.delegations().refill({SessionId(2), std::nullopt, "a", Token(1001)}, counter_), std::nullopt);
  EXPECT_EQ(table_.delegations().refill({SessionId(2), std::nullopt, "b", Token(1011)}, counter_), std::nullopt);
  EXPECT_EQ(table_.delegations().refill({SessionId(1), std::nullopt, "a", Token(1001)}, counter_), Token(1012));
  EXPECT_EQ(holder("a").token, Token(1001));
  EXPECT_EQ(holder("a").block.last, Token(1021));
  EXPECT_EQ(table_.view().held("a", Token(1010)), std::nullopt);
  EXPECT_EQ(table_.view().held("a", Token(1012)), Mode::Exclusive);
  EXPECT_TRUE(release(1, "a", Token(1001)));
}

// Covers: S-54 S-58
TEST_F(StickyTest, ANewerTokenThatWasShownRetiresOlderOnes) {
  acquire(1, "a", 10);
  for (const uint64_t token : {1001, 1005, 1010}) EXPECT_TRUE(table_.view().held("a", Token(token))) << token;
  for (const uint64_t token : {1000, 1011}) EXPECT_FALSE(table_.view().held("a", Token(token))) << token;
  EXPECT_TRUE(table_.delegations().put_forward("a", Token(1005)));
  EXPECT_TRUE(table_.delegations().put_forward("a", Token(1005)));
  EXPECT_FALSE(table_.delegations().put_forward("a", Token(1004)));
  EXPECT_FALSE(table_.hold_changes().update_value({SessionId(1), std::nullopt, "a", Token(1001)}, "v"))
      << "the first local hold is over";
  EXPECT_TRUE(table_.hold_changes().update_value({SessionId(1), std::nullopt, "a", Token(1007)}, "v"));
  decide_waits();
  EXPECT_FALSE(table_.view().held("a", Token(1005)));
  EXPECT_EQ(table_.digest(), table_.recomputed_digest());
}

// Covers: S-45 S-58
TEST_F(StickyTest, ASessionThatChangesHandsHasNewHoldsAndNewBlocksInTheOrderOfTheFormer) {
  acquire(1, "a", 10);
  acquire(1, "b");
  table_.hold_changes().regrant_all(SessionId(1), index_, counter_);
  decide_waits();
  EXPECT_EQ(holder("a").token, Token(1012));
  EXPECT_EQ(holder("a").block.first, Token(1012));
  EXPECT_FALSE(table_.view().held("a", Token(1005)));
  EXPECT_EQ(holder("b").token, Token(1022)) << "after the block of the one that was granted before it";
  EXPECT_FALSE(table_.view().held("b", Token(1011)));
  EXPECT_EQ(table_.digest(), table_.recomputed_digest());
}

// Covers: S-46 S-58
TEST_F(StickyTest, ADelegationChangesNoMode) {
  acquire(1, "a", 10);
  EXPECT_EQ(table_.hold_changes().downgrade({SessionId(1), std::nullopt, "a", Token(1001)}, index_, counter_).kind,
            ModeVerdict::Kind::Impossible);
  decide_waits();
}

// Covers: S-38 S-58
TEST_F(StickyTest, AnOwnerMayWantWhatItsSessionHasAsADelegation) {
  acquire(1, "a", 10, true, "t");
  EXPECT_EQ(acquire(1, "a", 10, true, "t").kind, Kind::AlreadyHeld);
  EXPECT_EQ(acquire(1, "a", 0, true, "t").kind, Kind::Queued) << "in another way than stickily: it waits for its own session";
  EXPECT_EQ(decisions_.asked.size(), 1u);
  EXPECT_EQ(acquire(1, "a", 10, true, "t").kind, Kind::AlreadyWaiting);
  EXPECT_TRUE(release(1, "a", Token(1001)));
  EXPECT_EQ(decisions_.waits.size(), 1u);
}

// Covers: S-49 S-58
TEST_F(StickyTest, ADelegationIsInNoCircleBecauseItIsGivenBack) {
  acquire(1, "a", 10);
  acquire(2, "b");
  EXPECT_EQ(acquire(1, "b").kind, Kind::Queued);
  EXPECT_EQ(acquire(2, "a").kind, Kind::Queued) << "an idle delegation must not refuse anyone";
}

// Covers: S-40 S-58
TEST_F(StickyTest, AnExpiredDelegationIsDelayedLikeAnyHold) {
  const Wanted wanted{"a", Mode::Exclusive};
  table_.acquire({.index = Index(1),
                  .request = {{ReplicaId(1), {}, {}}, Sequence(1)},
                  .session = SessionId(1),
                  .tag = "",
                  .names = {&wanted, 1},
                  .texts = {},
                  .delay = std::chrono::seconds(2),
                  .block = 10},
                 counter_);
  decide_waits();
  table_.end(SessionId(1), Table::Ending::Expired, counter_, decisions_);
  decide_waits();
  EXPECT_TRUE(table_.view().delayed("a"));
}

}  // namespace
}  // namespace coordkit::lock

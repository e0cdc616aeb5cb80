// Sticky holds in the machine (docs/semantics.md S-58): their effect on commands, guards, resumes and checkpoints.
#include <gtest/gtest.h>

#include "machine/guard.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;

std::string lock_held(std::string name, Token token) { return encode(Guard(LockHeld{std::move(name), token})); }

class StickyCommandsTest : public ::testing::Test {
 protected:
  Result acquire(SessionId session, uint64_t block, Wait wait = Wait::none()) {
    return driver.submit(Acquire{.session = session, .name = "a", .wait = wait, .block = block});
  }
  HeldLock holder() const { return driver.machine.reads()->holders_of("a").holders.at(0); }
  Driver driver;
};

// Covers: S-58
TEST_F(StickyCommandsTest, AGrantReservesItsBlockForAllToSee) {
  const SessionId me = driver.open(), other = driver.open();
  const Token token = acquire(me, 100).token;
  EXPECT_EQ(holder().last.value(), token.value() + 99);
  EXPECT_EQ(driver.acquire(other, "b").token.value(), token.value() + 100);
  EXPECT_EQ(driver.machine.last_token(), token.value() + 100);
}

// Covers: S-58
TEST_F(StickyCommandsTest, TheSessionIsToldOnceThatSomebodyWantsIt) {
  const SessionId me = driver.open(), other = driver.open();
  const Token token = acquire(me, 100).token;
  EXPECT_EQ(driver.acquire(other, "a", Wait::forever()).code, ResultCode::Queued);
  EXPECT_EQ(driver.last.events, (std::vector<Event>{DelegationAsked{me, "a", token}}));
  EXPECT_TRUE(holder().asked);
  driver.acquire(other, "a", Wait::forever(), "t");
  EXPECT_TRUE(driver.last.events.empty());
  EXPECT_EQ(driver.release(me, "a", token).code, ResultCode::Ok);
  EXPECT_GT(driver.holder("a").value(), token.value() + 99) << "above the whole block";
}

// Covers: S-36 S-58
TEST_F(StickyCommandsTest, OnlyTheFirstTryIsWorthAnEntry) {
  const SessionId me = driver.open(), other = driver.open();
  acquire(me, 100);
  const Acquire attempt{.session = other, .name = "a", .wait = Wait::none()};
  const auto look = [&] { return driver.machine.reads()->refusal_of(attempt).value_or(Result()).code; };
  EXPECT_EQ(look(), ResultCode::Ok);
  EXPECT_EQ(driver.submit(attempt).code, ResultCode::Held);
  EXPECT_EQ(driver.last.events.size(), 1u);
  EXPECT_EQ(look(), ResultCode::Held);
}

// Covers: S-54 S-58
TEST_F(StickyCommandsTest, AGuardComparesAgainstTheBlockAndANewerTokenRetiresOlderOnes) {
  const SessionId me = driver.open();
  const Token first = acquire(me, 100).token, later(first.value() + 7);
  EXPECT_TRUE(driver.machine.holds(lock_held("a", first)));
  EXPECT_TRUE(driver.machine.holds(lock_held("a", later)));
  EXPECT_FALSE(driver.machine.holds(lock_held("a", first))) << "retired";
  EXPECT_TRUE(driver.machine.holds(lock_held("a", later)));
  EXPECT_FALSE(driver.machine.holds(lock_held("a", Token(first.value() + 100))));
  EXPECT_EQ(driver.submit(UpdateValue{me, "another owner", "a", first, "v"}).code, ResultCode::NotOwner);
  EXPECT_EQ(driver.submit(UpdateValue{me, "another owner", "a", Token(first.value() + 9), "v"}).code, ResultCode::Ok);
  EXPECT_FALSE(driver.machine.holds(lock_held("a", later)));
  EXPECT_EQ(driver.machine.digest(), driver.machine.recomputed_digest());
}

// Covers: S-58
TEST_F(StickyCommandsTest, ABlockIsRefilledByTheSessionThatHasIt) {
  const SessionId me = driver.open(), other = driver.open();
  const Token token = acquire(me, 100).token;
  EXPECT_EQ(driver.submit(RefillBlock{other, "a", token}).code, ResultCode::NotOwner);
  const Result more = driver.submit(RefillBlock{me, "a", token});
  EXPECT_EQ(more.code, ResultCode::Granted);
  EXPECT_EQ(more.token.value(), token.value() + 100);
  EXPECT_EQ(holder().token, token);
  EXPECT_FALSE(driver.machine.holds(lock_held("a", token)));
  EXPECT_EQ(driver.release(me, "a", token).code, ResultCode::Ok);
}

// Covers: S-45 S-58
TEST_F(StickyCommandsTest, AResumeDiscardsTheRestOfTheBlock) {
  const SessionId me =
      driver.submit(OpenSession{5s, "", kOrigin.replica, kOrigin.boot, kOrigin.store.value(), lease::hash_of_secret("s")})
          .session;
  const Token token = acquire(me, 100).token;
  EXPECT_EQ(driver.submit(ResumeSession{me, "s", false}).code, ResultCode::Ok);
  EXPECT_GT(holder().token.value(), token.value() + 99);
  EXPECT_FALSE(driver.machine.holds(lock_held("a", Token(token.value() + 5))));
  EXPECT_TRUE(driver.machine.holds(lock_held("a", holder().token)));
}

// Covers: S-57 S-58
TEST_F(StickyCommandsTest, ItsSessionIsEndedByAnyTokenOfTheBlock) {
  const SessionId me = driver.open();
  const Token token = acquire(me, 100).token;
  EXPECT_EQ(driver.submit(ForceRelease{"a", Token(token.value() + 100)}).code, ResultCode::NotOwner);
  EXPECT_EQ(driver.submit(ForceRelease{"a", Token(token.value() + 50)}).session, me);
}

// Covers: S-58
TEST_F(StickyCommandsTest, WhatCannotBeStickyIsRefused) {
  const SessionId me = driver.open();
  Acquire shared{.session = me, .name = "a", .wait = Wait::none(), .mode = LockMode::Shared, .block = 2};
  EXPECT_EQ(driver.submit(shared).code, ResultCode::InvalidArgument);
  Acquire counted{.session = me, .name = "a", .wait = Wait::none(), .flags = kReentrant, .block = 2};
  EXPECT_EQ(driver.submit(counted).code, ResultCode::InvalidArgument);
  EXPECT_EQ(acquire(me, kTokenBlockMax + 1).code, ResultCode::LimitExceeded);
  EXPECT_EQ(acquire(me, kTokenBlockMax).code, ResultCode::Granted);
}

// Covers: S-58
TEST_F(StickyCommandsTest, ACheckpointKeepsTheBlockAndWhatIsKnownOfIt) {
  const SessionId me = driver.open(), other = driver.open();
  const Token token = acquire(me, 100).token;
  acquire(other, 7, Wait::forever());
  driver.machine.holds(lock_held("a", Token(token.value() + 3)));
  RowsView view;
  CheckpointBatch batch;
  driver.machine.checkpoint(batch);
  view.add(batch);
  Machine copy("m1");
  ASSERT_TRUE(copy.restore(view).ok());
  EXPECT_EQ(copy.digest(), driver.machine.digest());
  EXPECT_FALSE(copy.holds(lock_held("a", token)));
  EXPECT_TRUE(copy.holds(lock_held("a", Token(token.value() + 3))));
}

}  // namespace
}  // namespace coordkit::machine

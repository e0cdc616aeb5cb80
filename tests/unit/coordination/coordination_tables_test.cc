// The rules of docs/semantics.md S-50 and S-37, one table at a time.
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/coordination/rig.h"

namespace coordkit::coordination {
namespace {

using namespace std::chrono_literals;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

// ---- semaphores

class SemaphoresTest : public testing::Test {
 protected:
  Verdict acquire(const Attempt& attempt, uint64_t count, std::optional<uint64_t> initial = {}) {
    return rig.entry([&](Step& step) { return rig.state.semaphores.acquire(step, attempt, count, initial); });
  }
  Verdict set_limit(uint64_t limit) {
    return rig.entry([&](Step& step) { return rig.state.semaphores.set_limit(step, "s", limit); });
  }
  Verdict erase() {
    return rig.entry([&](Step& step) { return rig.state.semaphores.erase(step, "s"); });
  }
  Rig rig;
};

// Covers: S-50
TEST_F(SemaphoresTest, ItIsMadeByItsFirstUseOnlyIfTheCallerSaysWithHowMany) {
  EXPECT_EQ(acquire(Rig::wait(kA, "s"), 1).kind, Result::NotFound);
  EXPECT_EQ(acquire(Rig::attempt(kA, "s"), 3, 2).kind, Result::Held);
  EXPECT_EQ(rig.state.records(), 0u) << "a failed try leaves no trace";
  EXPECT_EQ(acquire(Rig::wait(kA, "s"), 2, 2).kind, Result::Granted);
  EXPECT_EQ(acquire(Rig::attempt(kB, "s"), 1, 100).kind, Result::Held)
      << "it is there: the second one's number is of no account";
}

// Covers: S-50
TEST_F(SemaphoresTest, NoMorePermitsThanTheLimitAreHeld) {
  set_limit(3);
  EXPECT_EQ(acquire(Rig::attempt(kA, "s"), 2).kind, Result::Granted);
  EXPECT_EQ(acquire(Rig::attempt(kA, "s"), 1).kind, Result::Granted) << "an owner may have several holds";
  EXPECT_EQ(acquire(Rig::attempt(kB, "s"), 1).kind, Result::Held);
  EXPECT_EQ(acquire(Rig::wait(kB, "s"), std::numeric_limits<uint64_t>::max()).kind, Result::Queued)
      << "more than the limit waits: the limit may be raised";
}

// Covers: S-50
TEST_F(SemaphoresTest, ASmallRequestDoesNotPassALargeOneAtTheHead) {
  set_limit(3);
  const Token first = acquire(Rig::wait(kA, "s"), 2).token;
  EXPECT_EQ(acquire(Rig::wait(kB, "s"), 3).kind, Result::Queued);
  const Index large = rig.index;
  EXPECT_EQ(acquire(Rig::attempt(kC, "s"), 1).kind, Result::Held) << "one is free, but another is ahead";
  EXPECT_EQ(acquire(Rig::wait(kC, "s"), 1).position, 1u);
  const Index small = rig.index;
  EXPECT_TRUE(rig.release(kA, "s", first));
  EXPECT_EQ(rig.decided(), (Decided{{large, Result::Granted}}));
  EXPECT_TRUE(rig.release(kB, "s", rig.token_of(large)));
  EXPECT_EQ(rig.decided(), (Decided{{small, Result::Granted}}));
}

// Covers: S-50
TEST_F(SemaphoresTest, ReleaseReturnsAllOfOneGrantAndNeedsItsSessionAndName) {
  set_limit(5);
  const Token two = acquire(Rig::wait(kA, "s"), 2).token;
  const Token three = acquire(Rig::wait(kA, "s"), 3).token;
  EXPECT_LT(two, three);
  EXPECT_FALSE(rig.release(kB, "s", two));
  EXPECT_FALSE(rig.release(kA, "t", two));
  EXPECT_TRUE(rig.release(kA, "s", two));
  EXPECT_FALSE(rig.release(kA, "s", two)) << "once";
  EXPECT_EQ(acquire(Rig::attempt(kB, "s"), 2).kind, Result::Granted);
  EXPECT_TRUE(rig.state.still_held("s", three));
  EXPECT_FALSE(rig.state.still_held("s", two));
}

// Covers: S-50
TEST_F(SemaphoresTest, LoweringTheLimitRevokesNothingAndRaisingItGrants) {
  set_limit(4);
  const Token four = acquire(Rig::wait(kA, "s"), 4).token;
  set_limit(1);
  EXPECT_TRUE(rig.state.still_held("s", four));
  EXPECT_EQ(acquire(Rig::wait(kB, "s"), 1).kind, Result::Queued);
  const Index one = rig.index;
  EXPECT_EQ(acquire(Rig::wait(kC, "s"), 1).kind, Result::Queued);
  set_limit(5);
  EXPECT_EQ(rig.decided(), (Decided{{one, Result::Granted}}));
}

// Covers: REG_F53
TEST_F(SemaphoresTest, AllPermitsOfASessionAreFreeInTheEntryThatEndsIt) {
  set_limit(5);
  acquire(Rig::wait(kA, "s"), 2);
  acquire(Rig::wait(kA, "s"), 3);
  acquire(Rig::wait(kB, "s"), 5);
  const Index all = rig.index;
  rig.end({kA});
  EXPECT_EQ(rig.decided(), (Decided{{all, Result::Granted}}));
}

// Two callers that want two of three each: the second waits with nothing in its hands.
// Covers: REG_F58
TEST_F(SemaphoresTest, WhoWaitsForSeveralPermitsHoldsNoneOfThem) {
  set_limit(3);
  const Token two = acquire(Rig::wait(kA, "s"), 2).token;
  acquire(Rig::wait(kB, "s"), 2);
  EXPECT_EQ(rig.state.semaphores.held(rig.state.semaphores.semaphores().named("s").value()), 2u);
  rig.release(kA, "s", two);
  EXPECT_EQ(rig.decided().size(), 1u);
}

// Covers: S-50
TEST_F(SemaphoresTest, ItStaysUntilItIsDeletedWhichNeedsNoHoldsAndNoWaits) {
  EXPECT_EQ(erase().kind, Result::NotFound);
  const Token token = acquire(Rig::wait(kA, "s"), 1, 1).token;
  EXPECT_EQ(erase().kind, Result::Held);
  rig.release(kA, "s", token);
  EXPECT_EQ(rig.state.records(), 1u);
  acquire(Rig::wait(kA, "s"), 2);
  EXPECT_EQ(erase().kind, Result::Held);
  rig.end({kA});
  EXPECT_EQ(erase().kind, Result::Ok);
  EXPECT_EQ(rig.state.records(), 0u);
}

// ---- waits of all kinds

class CoordinationTest : public SemaphoresTest {};

// Covers: S-39 REG_F65
TEST_F(CoordinationTest, ADeadSessionLosesItsWaitsAndTheNextLiveOneIsGranted) {
  set_limit(1);
  acquire(Rig::wait(kA, "s"), 1);
  acquire(Rig::wait(kB, "s"), 1);
  const Index dead = rig.index;
  acquire(Rig::wait(kC, "s"), 1);
  const Index live = rig.index;
  rig.end({kA, kB});
  EXPECT_EQ(rig.decided(), (Decided{{dead, Result::Lost}, {live, Result::Granted}}))
      << "nothing is granted to a session that ends in the same entry";
}

// Covers: S-48
TEST_F(CoordinationTest, ATimeoutOrACancelOfTheHeadServesWhoeverCanBeServed) {
  set_limit(2);
  acquire(Rig::wait(kA, "s"), 1);
  acquire(Rig::wait(kB, "s", 5s), 2);
  const Index timed = rig.index;
  acquire(Rig::wait(kC, "s"), 1);
  const Index next = rig.index;
  EXPECT_FALSE(rig.time_out(next)) << "it waits forever";
  EXPECT_TRUE(rig.time_out(timed));
  EXPECT_EQ(rig.decided(), (Decided{{timed, Result::WaitTimeout}, {next, Result::Granted}}));
  EXPECT_TRUE(rig.decisions.front().timed);
  EXPECT_FALSE(rig.time_out(timed)) << "once";
  acquire(Rig::wait(kB, "s"), 2);
  const Index cancelled = rig.index;
  EXPECT_FALSE(rig.cancel(kA, cancelled)) << "another session's";
  EXPECT_TRUE(rig.cancel(kB, cancelled));
  EXPECT_EQ(rig.decided(), (Decided{{cancelled, Result::Cancelled}}));
}

// Covers: S-48
TEST_F(CoordinationTest, OverSeveralObjectsTheWaitQueuedFirstIsGrantedFirst) {
  rig.entry([&](Step& step) { rig.state.semaphores.set_limit(step, "b", 1); });
  rig.entry([&](Step& step) { rig.state.semaphores.set_limit(step, "a", 1); });
  acquire(Rig::wait(kA, "a"), 1);
  acquire(Rig::wait(kA, "b"), 1);
  acquire(Rig::wait(kB, "a"), 1);
  const Index first = rig.index;
  acquire(Rig::wait(kB, "b"), 1);
  const Index second = rig.index;
  rig.end({kA});
  EXPECT_EQ(rig.decided(), (Decided{{first, Result::Granted}, {second, Result::Granted}}));
  EXPECT_LT(rig.token_of(first), rig.token_of(second));
}

// ---- latches

class LatchesTest : public testing::Test {
 protected:
  Verdict create(uint64_t count) {
    return rig.entry([&](Step& step) { return rig.state.latches.create(step, "l", count); });
  }
  Verdict count_down(uint64_t by) {
    return rig.entry([&](Step& step) { return rig.state.latches.count_down(step, "l", by); });
  }
  Verdict wait(const Attempt& attempt) {
    return rig.entry([&](Step& step) { return rig.state.latches.wait(step, attempt); });
  }
  Verdict erase() {
    return rig.entry([&](Step& step) { return rig.state.latches.erase(step, "l"); });
  }
  Rig rig;
};

// Covers: S-37
TEST_F(LatchesTest, AWaitReturnsInTheEntryThatCountsToZeroAndNotBefore) {
  EXPECT_EQ(wait(Rig::wait(kA, "l")).kind, Result::NotFound);
  create(3);
  EXPECT_EQ(wait(Rig::wait(kA, "l")).kind, Result::Queued);
  const Index first = rig.index;
  EXPECT_EQ(wait(Rig::attempt(kB, "l")).kind, Result::Held);
  EXPECT_EQ(wait(Rig::wait(kB, "l")).position, 1u);
  const Index second = rig.index;
  EXPECT_EQ(count_down(2).number, 1);
  EXPECT_TRUE(rig.decided().empty());
  EXPECT_EQ(count_down(100).number, 0) << "it does not fall below zero";
  EXPECT_EQ(rig.decided(), (Decided{{first, Result::Ok}, {second, Result::Ok}}));
  EXPECT_EQ(wait(Rig::attempt(kC, "l")).kind, Result::Ok) << "at once at zero";
}

// Covers: S-37
TEST_F(LatchesTest, ItDoesNotRiseAgainAndCountsOfTheDeadStay) {
  create(2);
  EXPECT_EQ(create(5).kind, Result::AlreadyExists);
  count_down(1);
  wait(Rig::wait(kA, "l"));
  const Index lost = rig.index;
  rig.end({kA});
  EXPECT_EQ(rig.decided(), (Decided{{lost, Result::Lost}}));
  count_down(1);
  EXPECT_EQ(count_down(1).number, 0);
  EXPECT_TRUE(rig.changes.empty()) << "nothing changed";
  EXPECT_EQ(create(5).kind, Result::AlreadyExists) << "also at zero";
}

// Covers: S-37
TEST_F(LatchesTest, DeletingEndsItsWaitsWithNotFound) {
  EXPECT_EQ(erase().kind, Result::NotFound);
  create(1);
  wait(Rig::wait(kA, "l"));
  const Index waiting = rig.index;
  EXPECT_EQ(erase().kind, Result::Ok);
  EXPECT_EQ(rig.decided(), (Decided{{waiting, Result::NotFound}}));
  EXPECT_EQ(count_down(1).kind, Result::NotFound);
  EXPECT_EQ(rig.state.records(), 0u);
}

// Covers: S-37
TEST_F(LatchesTest, EachChangeIsShownOnce) {
  create(2);
  ASSERT_EQ(rig.changes.size(), 1u);
  EXPECT_EQ(rig.changes[0].number, 2);
  count_down(1);
  ASSERT_EQ(rig.changes.size(), 1u);
  EXPECT_EQ(rig.changes[0].number, 1);
  erase();
  ASSERT_EQ(rig.changes.size(), 1u);
  EXPECT_EQ(rig.changes[0].what, Change::What::Deleted);
}

// ---- barriers

class BarriersTest : public testing::Test {
 protected:
  Verdict close(SessionId session, AtSessionEnd at_end = AtSessionEnd::Stays, std::string_view name = "b") {
    return rig.entry([&](Step& step) { return rig.state.barriers.close(step, session, name, at_end); });
  }
  Verdict open() {
    return rig.entry([&](Step& step) { return rig.state.barriers.open(step, "b"); });
  }
  Verdict wait(const Attempt& attempt) {
    return rig.entry([&](Step& step) { return rig.state.barriers.wait(step, attempt); });
  }
  Rig rig;
};

// Covers: S-37
TEST_F(BarriersTest, AClosedOneHoldsEverybodyUntilItIsOpenedForAllAtOnce) {
  EXPECT_EQ(wait(Rig::attempt(kA, "b")).kind, Result::Ok) << "what was never closed is open";
  EXPECT_EQ(close(kA).kind, Result::Ok);
  EXPECT_EQ(close(kB).kind, Result::AlreadyExists);
  EXPECT_EQ(wait(Rig::attempt(kB, "b")).kind, Result::Held);
  wait(Rig::wait(kB, "b"));
  const Index first = rig.index;
  wait(Rig::wait(kC, "b"));
  const Index second = rig.index;
  EXPECT_EQ(open().kind, Result::Ok);
  EXPECT_EQ(rig.decided(), (Decided{{first, Result::Ok}, {second, Result::Ok}}));
  EXPECT_EQ(open().kind, Result::NotFound);
  EXPECT_EQ(rig.state.records(), 0u) << "an open barrier has no record";
}

// Covers: S-37
TEST_F(BarriersTest, ItCanBeUsedAgainAndWaitsOfBeforeAreOfNoAccount) {
  for (int cycle = 0; cycle < 3; ++cycle) {
    close(kA);
    wait(Rig::wait(kB, "b"));
    open();
    EXPECT_EQ(rig.decided().size(), 1u);
  }
}

// Covers: S-37
TEST_F(BarriersTest, WhatTheSessionsEndDoesIsChosenAtTheClose) {
  close(kA, AtSessionEnd::Stays, "stays");
  close(kA, AtSessionEnd::Opens, "opens");
  close(kA, AtSessionEnd::Breaks, "breaks");
  wait(Rig::wait(kB, "stays"));
  wait(Rig::wait(kB, "opens"));
  const Index opened = rig.index;
  wait(Rig::wait(kB, "breaks"));
  const Index broken = rig.index;
  rig.end({kA});
  EXPECT_EQ(rig.decided(), (Decided{{opened, Result::Ok}, {broken, Result::Broken}}));
  EXPECT_EQ(wait(Rig::attempt(kC, "stays")).kind, Result::Held);
  EXPECT_EQ(wait(Rig::attempt(kC, "breaks")).kind, Result::Ok) << "a broken one is gone";
}

// Covers: S-39
TEST_F(BarriersTest, AWaiterThatEndsTogetherWithTheCloserIsLostAndNotReleased) {
  close(kA, AtSessionEnd::Opens);
  wait(Rig::wait(kB, "b"));
  const Index lost = rig.index;
  rig.end({kA, kB});
  EXPECT_EQ(rig.decided(), (Decided{{lost, Result::Lost}}));
  EXPECT_EQ(rig.state.records(), 0u);
}

// ---- double barriers

class DoubleBarriersTest : public testing::Test {
 protected:
  Verdict enter(const Attempt& attempt, uint64_t parties, AtPartyEnd at_end = AtPartyEnd::Breaks) {
    return rig.entry([&](Step& step) { return rig.state.double_barriers.enter(step, attempt, parties, at_end); });
  }
  Verdict leave(const Attempt& attempt, Token token) {
    return rig.entry([&](Step& step) { return rig.state.double_barriers.leave(step, attempt, token); });
  }
  Rig rig;
};

// Covers: REG_F52
TEST_F(DoubleBarriersTest, NobodyIsInsideBeforeTheLastHasEntered) {
  EXPECT_EQ(enter(Rig::attempt(kA, "d"), 3).kind, Result::Held);
  EXPECT_EQ(rig.state.records(), 0u);
  EXPECT_EQ(enter(Rig::wait(kA, "d"), 3).kind, Result::Queued);
  const Index a = rig.index;
  EXPECT_EQ(enter(Rig::wait(kB, "d"), 3).kind, Result::Queued);
  const Index b = rig.index;
  const Verdict last = enter(Rig::attempt(kC, "d"), 3);
  EXPECT_EQ(last.kind, Result::Granted) << "the last one does not wait";
  EXPECT_EQ(rig.decided(), (Decided{{a, Result::Granted}, {b, Result::Granted}}));
  EXPECT_LT(rig.token_of(a), rig.token_of(b));
  EXPECT_LT(rig.token_of(b), last.token);
}

// Covers: S-37
TEST_F(DoubleBarriersTest, AllLeaveInTheEntryOfTheLastLeaveAndTheNextCycleBegins) {
  for (int cycle = 0; cycle < 3; ++cycle) {
    enter(Rig::wait(kA, "d"), 2);
    const Index a = rig.index;
    const Token second = enter(Rig::wait(kB, "d"), 2).token;
    const Token first = rig.token_of(a);
    EXPECT_EQ(enter(Rig::wait(kC, "d"), 2).kind, Result::TooManyParties);
    EXPECT_EQ(leave(Rig::wait(kA, "d"), first).kind, Result::Queued);
    const Index leaving = rig.index;
    EXPECT_EQ(leave(Rig::wait(kA, "d"), first).kind, Result::NotOwner) << "it has left";
    EXPECT_EQ(enter(Rig::wait(kC, "d"), 2).kind, Result::TooManyParties) << "until all have";
    EXPECT_EQ(leave(Rig::wait(kA, "d"), second).kind, Result::NotOwner) << "another session's place";
    EXPECT_EQ(leave(Rig::wait(kB, "d"), second).kind, Result::Ok);
    EXPECT_EQ(rig.decided(), (Decided{{leaving, Result::Ok}}));
    EXPECT_EQ(rig.state.records(), 0u);
  }
}

// Covers: S-37
TEST_F(DoubleBarriersTest, AllMustNameTheSameNumberOfParties) {
  enter(Rig::wait(kA, "d"), 3);
  EXPECT_EQ(enter(Rig::wait(kB, "d"), 2).kind, Result::InvalidArgument);
  EXPECT_EQ(enter(Rig::wait(kB, "d"), 3).kind, Result::Queued);
}

// Covers: S-37
TEST_F(DoubleBarriersTest, ADeadPartyBreaksTheCycleForAllWhoAreThere) {
  enter(Rig::wait(kA, "d"), 3);
  enter(Rig::wait(kB, "d"), 3);
  const Index b = rig.index;
  rig.end({kA});
  EXPECT_EQ(rig.decisions.size(), 2u);
  EXPECT_EQ(rig.decided().back(), (std::pair(b, Result::Broken)));
  EXPECT_EQ(rig.state.records(), 0u);
  // The same while they are inside: those that wait to leave are answered, and the others' places are gone.
  enter(Rig::wait(kA, "d"), 3);
  const Index a2 = rig.index;
  enter(Rig::wait(kB, "d"), 3);
  const Index b2 = rig.index;
  const Token c = enter(Rig::wait(kC, "d"), 3).token;
  const Token b2_token = rig.token_of(b2);
  leave(Rig::wait(kA, "d"), rig.token_of(a2));
  const Index leaving = rig.index;
  rig.end({kB});
  EXPECT_EQ(rig.decided(), (Decided{{leaving, Result::Broken}}));
  EXPECT_FALSE(rig.state.still_held("d", b2_token));
  EXPECT_EQ(leave(Rig::wait(kC, "d"), c).kind, Result::NotOwner);
  EXPECT_EQ(rig.state.records(), 0u);
}

// Covers: S-45
TEST_F(DoubleBarriersTest, AWaitThatEndsBreaksNothingIfItsPartyMayReturn) {
  for (const Waiter waiter : {Waiter::MayReturn, Waiter::IsGone}) {
    enter(Rig::wait(kA, "d"), 2);
    const Index a = rig.index;
    enter(Rig::wait(kA, "e"), 3);
    enter(Rig::wait(kB, "e"), 3);
    const Index b = rig.index;
    rig.entry([&](Step& step) { rig.state.end_waits(kA, waiter, step); });
    EXPECT_EQ(rig.decided().front(), (std::pair(a, Result::Lost)));
    const bool broken = rig.decided().back() == std::pair(b, Result::Broken);
    EXPECT_EQ(broken, waiter == Waiter::IsGone);
    EXPECT_EQ(enter(Rig::attempt(kA, "e"), 3).kind, Result::Held) << "it does not count twice";
    rig.end({kB});
    EXPECT_EQ(rig.state.records(), 0u);
  }
}

// Covers: S-45
TEST_F(DoubleBarriersTest, APartyThatEndsBeforeItReturnsIsStillWaitedFor) {
  for (const AtPartyEnd at_end : {AtPartyEnd::Breaks, AtPartyEnd::Shrinks}) {
    enter(Rig::wait(kA, "d"), 2, at_end);
    rig.entry([&](Step& step) { rig.state.end_waits(kA, Waiter::MayReturn, step); });
    enter(Rig::wait(kB, "d"), 2, at_end);
    rig.end({kA});
    EXPECT_EQ(rig.decisions.size(), 0u) << "it was nowhere";
    EXPECT_EQ(enter(Rig::attempt(kC, "d"), 2).kind, Result::Granted) << "another one completes the cycle";
    rig.end({kB, kC});
    EXPECT_EQ(rig.state.records(), 0u);
  }
}

// Covers: S-37
TEST_F(DoubleBarriersTest, WithShrinkADeadPartyIsNotWaitedFor) {
  enter(Rig::wait(kA, "d"), 3, AtPartyEnd::Shrinks);
  enter(Rig::wait(kB, "d"), 3, AtPartyEnd::Breaks);  // the first enter has fixed the rule
  const Index b = rig.index;
  rig.end({kA});
  EXPECT_EQ(rig.decisions.size(), 1u) << "one was lost, the other waits for one more";
  const Token c = enter(Rig::attempt(kC, "d"), 3).token;
  EXPECT_EQ(rig.decided(), (Decided{{b, Result::Granted}}));
  leave(Rig::wait(kC, "d"), c);
  const Index leaving = rig.index;
  rig.end({kB});
  EXPECT_EQ(rig.decided(), (Decided{{leaving, Result::Ok}}));
  EXPECT_EQ(rig.state.records(), 0u);
}

// Covers: S-37
TEST_F(DoubleBarriersTest, WithShrinkTheDeathOfTheLastMissingPartiesCompletesTheCycle) {
  enter(Rig::wait(kA, "d"), 3, AtPartyEnd::Shrinks);
  enter(Rig::wait(kA, "d"), 3, AtPartyEnd::Shrinks);
  rig.end({kB});
  EXPECT_TRUE(rig.decided().empty()) << "who has not come is not missed";
  rig.end({kA});
  EXPECT_EQ(rig.state.records(), 0u);
}

// Covers: S-37
TEST_F(DoubleBarriersTest, TheCountOfDeadPartiesEndsWithTheLastWaiter) {
  enter(Rig::wait(kA, "d"), 3, AtPartyEnd::Shrinks);
  rig.end({kA});
  enter(Rig::wait(kB, "d"), 3, AtPartyEnd::Shrinks);
  EXPECT_EQ(enter(Rig::attempt(kC, "d"), 3).kind, Result::Held) << "nobody was there to wait for one less";
  enter(Rig::wait(kA, "d"), 3, AtPartyEnd::Shrinks);
  rig.end({kA});
  EXPECT_EQ(enter(Rig::attempt(kC, "d"), 3).kind, Result::Granted);
  rig.end({kB, kC});
  enter(Rig::wait(kA, "d"), 3, AtPartyEnd::Shrinks);
  enter(Rig::wait(kB, "d", 5s), 3, AtPartyEnd::Shrinks);
  const Index b = rig.index;
  rig.end({kA});
  EXPECT_TRUE(rig.time_out(b));
  EXPECT_EQ(rig.state.records(), 0u) << "what no session has does not stay";
  enter(Rig::wait(kB, "d"), 3, AtPartyEnd::Shrinks);
  EXPECT_EQ(enter(Rig::attempt(kC, "d"), 3).kind, Result::Held);
}

// Covers: S-37
TEST_F(DoubleBarriersTest, APartyWhoseWaitToEnterTimesOutLeavesNoTrace) {
  enter(Rig::wait(kA, "d", 5s), 2);
  const Index timed = rig.index;
  EXPECT_TRUE(rig.time_out(timed));
  EXPECT_EQ(rig.decided(), (Decided{{timed, Result::WaitTimeout}}));
  EXPECT_EQ(rig.state.records(), 0u);
  enter(Rig::wait(kA, "d"), 2);
  enter(Rig::wait(kB, "d"), 3);
  EXPECT_EQ(enter(Rig::wait(kC, "d"), 2).kind, Result::Granted);
}

// Covers: S-37
TEST_F(DoubleBarriersTest, APartyWhoseWaitToLeaveTimesOutHasLeft) {
  enter(Rig::wait(kA, "d"), 2);
  const Index a = rig.index;
  const Token b = enter(Rig::wait(kB, "d"), 2).token;
  leave(Rig::wait(kA, "d", 1s), rig.token_of(a));
  EXPECT_TRUE(rig.time_out(rig.index));
  EXPECT_TRUE(rig.release(kB, "d", b)) << "leaving without a wait";
  EXPECT_EQ(rig.state.records(), 0u);
}

// Covers: S-39
TEST_F(DoubleBarriersTest, APartyThatDiesAfterItLeftDoesNotBreakTheBarrier) {
  enter(Rig::wait(kA, "d"), 2);
  const Index a = rig.index;
  const Token b = enter(Rig::wait(kB, "d"), 2).token;
  leave(Rig::wait(kA, "d"), rig.token_of(a));
  const Index leaving = rig.index;
  rig.end({kA});
  EXPECT_EQ(rig.decided(), (Decided{{leaving, Result::Lost}}));
  EXPECT_EQ(leave(Rig::wait(kB, "d"), b).kind, Result::Ok);
}

// ---- claim queues

class ClaimQueuesTest : public testing::Test {
 protected:
  Index enqueue(int64_t priority, std::string_view value = "v") {
    return rig.entry([&](Step& step) { return rig.state.queues.enqueue(step, "q", priority, value); }).id;
  }
  Verdict claim(const Attempt& attempt, Duration term = {}) {
    return rig.entry([&](Step& step) { return rig.state.queues.claim(step, attempt, term); });
  }
  Verdict acknowledge(SessionId session, Token token) {
    return rig.entry([&](Step& step) { return rig.state.queues.acknowledge(step, session, "q", token); });
  }
  bool term_over(Index queued, Token token) {
    return rig.entry([&](Step& step) { return rig.state.queues.time_out(step, queued, token); });
  }
  Rig rig;
};

// Covers: S-37
TEST_F(ClaimQueuesTest, AnItemHasOneClaimAtATime) {
  EXPECT_EQ(claim(Rig::attempt(kA, "q")).kind, Result::Held) << "there is nothing";
  const Index item = enqueue(1, "work");
  const Verdict claimed = claim(Rig::attempt(kA, "q"));
  EXPECT_EQ(claimed.kind, Result::Granted);
  EXPECT_EQ(claimed.id, item);
  EXPECT_EQ(claimed.value, "work");
  EXPECT_EQ(claimed.number, 0);
  EXPECT_EQ(claim(Rig::attempt(kB, "q")).kind, Result::Held) << "it is hidden";
  EXPECT_EQ(acknowledge(kB, claimed.token).kind, Result::NotOwner);
  EXPECT_EQ(acknowledge(kA, claimed.token).kind, Result::Ok);
  EXPECT_EQ(acknowledge(kA, claimed.token).kind, Result::NotOwner) << "deleted once";
  EXPECT_EQ(rig.state.records(), 0u);
}

// Covers: S-37
TEST_F(ClaimQueuesTest, LowerPriorityNumberFirstThenTheOlderItemAlsoAfterAReturn) {
  const Index late = enqueue(7);
  const Index first = enqueue(-1);
  const Index second = enqueue(-1);
  const Verdict one = claim(Rig::attempt(kA, "q"));
  EXPECT_EQ(one.id, first);
  EXPECT_TRUE(rig.release(kA, "q", one.token));
  const Verdict again = claim(Rig::attempt(kB, "q"));
  EXPECT_EQ(again.id, first) << "it is back in its original place";
  EXPECT_EQ(again.number, 1);
  EXPECT_EQ(claim(Rig::attempt(kB, "q")).id, second);
  EXPECT_EQ(claim(Rig::attempt(kB, "q")).id, late);
  EXPECT_EQ(acknowledge(kA, one.token).kind, Result::NotOwner) << "a stale token";
}

// Covers: S-37
TEST_F(ClaimQueuesTest, WaitingClaimersAreServedInTheirOrderOnePerItem) {
  claim(Rig::wait(kA, "q"));
  const Index a = rig.index;
  claim(Rig::wait(kB, "q"));
  const Index b = rig.index;
  enqueue(5, "one");
  EXPECT_EQ(rig.decided(), (Decided{{a, Result::Granted}}));
  EXPECT_EQ(rig.decisions[0].verdict.value, "one");
  enqueue(1, "two");
  EXPECT_EQ(rig.decided(), (Decided{{b, Result::Granted}}));
}

// Covers: S-37 REG_F53
TEST_F(ClaimQueuesTest, ClaimsOfADeadSessionComeBackAndGoToTheNextInTheSameEntry) {
  const Index one = enqueue(1);
  const Index two = enqueue(2);
  claim(Rig::attempt(kA, "q"));
  claim(Rig::attempt(kA, "q"));
  claim(Rig::wait(kB, "q"));
  const Index b = rig.index;
  rig.end({kA});
  ASSERT_EQ(rig.decided(), (Decided{{b, Result::Granted}}));
  EXPECT_EQ(rig.decisions[0].verdict.id, one);
  EXPECT_EQ(rig.decisions[0].verdict.number, 1);
  EXPECT_EQ(claim(Rig::attempt(kC, "q")).id, two);
}

// Covers: S-37
TEST_F(ClaimQueuesTest, AClaimsTermIsGuardedByItsToken) {
  const Index item = enqueue(1);
  const Verdict first = claim(Rig::attempt(kA, "q"), 5s);
  const Index queued = rig.index;
  ASSERT_EQ(rig.timers.size(), 1u);
  EXPECT_EQ(rig.timers[0].queued, queued);
  EXPECT_EQ(rig.timers[0].duration, Duration(5s));
  EXPECT_FALSE(term_over(queued, Token(1)));
  EXPECT_FALSE(term_over(Index(1), first.token));
  EXPECT_TRUE(term_over(queued, first.token));
  ASSERT_EQ(rig.timers.size(), 1u);
  EXPECT_EQ(rig.timers[0].duration, Duration::zero()) << "the timer goes with the claim";
  EXPECT_EQ(acknowledge(kA, first.token).kind, Result::NotOwner);
  const Verdict second = claim(Rig::attempt(kB, "q"), 5s);
  EXPECT_EQ(second.id, item);
  EXPECT_FALSE(term_over(queued, first.token)) << "the first claim's timer does nothing to the second";
  EXPECT_EQ(acknowledge(kB, second.token).kind, Result::Ok);
  EXPECT_EQ(rig.timers.size(), 1u);
}

// Covers: S-37
TEST_F(ClaimQueuesTest, AClaimWithoutATermIsNotEndedByATimer) {
  enqueue(1);
  const Verdict claimed = claim(Rig::attempt(kA, "q"));
  EXPECT_TRUE(rig.timers.empty());
  EXPECT_FALSE(term_over(rig.index, claimed.token));
}

// Covers: REG_F76
TEST_F(ClaimQueuesTest, AQueueOfNothingWithoutWaitersLeavesNothing) {
  claim(Rig::wait(kA, "q"));
  EXPECT_EQ(rig.state.records(), 2u);
  EXPECT_TRUE(rig.cancel(kA, rig.index));
  EXPECT_EQ(rig.state.records(), 0u);
}

// ---- counters

class CountersTest : public testing::Test {
 protected:
  template <typename Run>
  Verdict run(Run change) {
    return rig.entry([&](Step& step) { return change(rig.state.counters, step); });
  }
  Rig rig;
};

// Covers: S-37
TEST_F(CountersTest, AddSetAndCompareAndSetStartFromZero) {
  EXPECT_EQ(run([](Counters& c, Step& s) { return c.add(s, "n", -5); }).number, -5);
  EXPECT_EQ(run([](Counters& c, Step& s) { return c.set(s, "n", 7); }).number, 7);
  const Verdict stale = run([](Counters& c, Step& s) { return c.compare_and_set(s, "n", 6, 9); });
  EXPECT_FALSE(stale.swapped);
  EXPECT_EQ(stale.number, 7);
  EXPECT_TRUE(rig.changes.empty());
  EXPECT_TRUE(run([](Counters& c, Step& s) { return c.compare_and_set(s, "n", 7, 9); }).swapped);
  EXPECT_EQ(rig.state.counters.value("n"), 9);
  EXPECT_TRUE(run([](Counters& c, Step& s) { return c.compare_and_set(s, "other", 0, 1); }).swapped) << "absent is zero";
}

// Covers: S-37
TEST_F(CountersTest, AnOverflowHasNoEffect) {
  run([](Counters& c, Step& s) { return c.set(s, "n", kMax - 1); });
  EXPECT_EQ(run([](Counters& c, Step& s) { return c.add(s, "n", 2); }).kind, Result::Overflow);
  EXPECT_EQ(run([](Counters& c, Step& s) { return c.allocate(s, "n", 2); }).kind, Result::Overflow);
  EXPECT_EQ(rig.state.counters.value("n"), kMax - 1);
  EXPECT_EQ(run([](Counters& c, Step& s) { return c.allocate(s, "n", 1); }).number, kMax);
  run([](Counters& c, Step& s) { return c.set(s, "n", kMin); });
  EXPECT_EQ(run([](Counters& c, Step& s) { return c.add(s, "n", -1); }).kind, Result::Overflow);
}

// Covers: S-37
TEST_F(CountersTest, AllocatedNumbersAreConsecutiveAndNeverGivenOutTwice) {
  EXPECT_EQ(run([](Counters& c, Step& s) { return c.allocate(s, "id", 3); }).number, 1);
  EXPECT_EQ(run([](Counters& c, Step& s) { return c.allocate(s, "id", 1); }).number, 4);
  EXPECT_EQ(rig.state.counters.value("id"), 4);
}

// Covers: S-37
TEST_F(CountersTest, ItIsBoundToNoSessionAndDeletedOnRequestOnly) {
  EXPECT_EQ(run([](Counters& c, Step& s) { return c.erase(s, "n"); }).kind, Result::NotFound);
  run([](Counters& c, Step& s) { return c.add(s, "n", 1); });
  rig.end({kA});
  EXPECT_EQ(rig.state.counters.value("n"), 1);
  EXPECT_EQ(run([](Counters& c, Step& s) { return c.erase(s, "n"); }).kind, Result::Ok);
  ASSERT_EQ(rig.changes.size(), 1u);
  EXPECT_EQ(rig.changes[0].what, Change::What::Deleted);
  EXPECT_EQ(rig.state.records(), 0u);
}

// ---- groups

class GroupsTest : public testing::Test {
 protected:
  Verdict join(SessionId session, std::string_view owner = "", std::string_view value = "v") {
    return rig.entry([&](Step& step) { return rig.state.groups.join(step, {"g", session, owner}, value); });
  }
  Verdict update(SessionId session, std::string_view value) {
    return rig.entry([&](Step& step) { return rig.state.groups.update(step, {"g", session, ""}, value); });
  }
  Verdict leave(SessionId session, std::string_view owner = "") {
    return rig.entry([&](Step& step) { return rig.state.groups.leave(step, {"g", session, owner}); });
  }
  Rig rig;
};

// Covers: S-37
TEST_F(GroupsTest, TheNumberOfAMemberIsTheEntryOfItsJoin) {
  EXPECT_EQ(join(kA).id, Index(1));
  EXPECT_EQ(join(kB).id, Index(2));
  const Verdict again = join(kA);
  EXPECT_EQ(again.kind, Result::AlreadyExists);
  EXPECT_EQ(again.id, Index(1));
  EXPECT_EQ(join(kA, "other owner").id, Index(4));
}

// Covers: S-37
TEST_F(GroupsTest, OnlyAMemberUpdatesAndLeaves) {
  join(kA);
  EXPECT_EQ(update(kB, "w").kind, Result::NotFound);
  EXPECT_EQ(leave(kA, "other owner").kind, Result::NotFound);
  EXPECT_EQ(update(kA, "w").kind, Result::Ok);
  ASSERT_EQ(rig.changes.size(), 1u);
  EXPECT_EQ(rig.changes[0].what, Change::What::Updated);
  EXPECT_EQ(rig.changes[0].value, "w");
  EXPECT_EQ(leave(kA).kind, Result::Ok);
  EXPECT_EQ(rig.changes[0].what, Change::What::Left);
  EXPECT_EQ(leave(kA).kind, Result::NotFound);
  EXPECT_EQ(rig.state.records(), 0u) << "an empty group has no record";
}

// Covers: S-37
TEST_F(GroupsTest, AMemberLeavesWithItsSession) {
  join(kA);
  join(kA, "second");
  join(kB);
  rig.end({kA});
  EXPECT_EQ(rig.changes.size(), 2u);
  EXPECT_EQ(rig.state.groups.members().size(), 1u);
  rig.end({kB});
  EXPECT_EQ(rig.state.records(), 0u);
}

}  // namespace
}  // namespace coordkit::coordination

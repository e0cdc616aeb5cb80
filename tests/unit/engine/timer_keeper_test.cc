#include "engine/timers/timer_keeper.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"
#include "tests/unit/engine/lagging_time.h"

namespace coordkit::engine {
namespace {

using namespace std::chrono_literals;
using Coverage = RenewReply::Coverage;

constexpr MachineId kMachine{1};
Duration ms(uint64_t count) { return std::chrono::milliseconds(count); }

TimerGroup group_of(uint64_t node, Duration ttl = 100ms) { return {ReplicaId(node), BootCounter(1), 1, ttl}; }

TimerOp arm(uint64_t id, Duration duration, TimerGroup group = {}, uint64_t generation = 0) {
  return {TimerOp::Kind::Arm, TimerId(id), Generation(generation), duration, group};
}
TimerOp disarm(uint64_t id) { return {TimerOp::Kind::Disarm, TimerId(id), {}, {}, {}}; }

// The renewal of a sender that knows exactly these timers.
RenewRequest::Group asking(TimerGroup group, const std::vector<uint64_t>& known, const std::vector<uint64_t>& excluded = {}) {
  RenewRequest::Group asked{.group = group};
  for (const uint64_t id : known) {
    asked.highest = std::max(asked.highest, TimerId(id));
    ++asked.count;
    asked.sum += timer_set_hash(TimerId(id));
  }
  for (const uint64_t id : excluded) {
    asked.highest = std::max(asked.highest, TimerId(id));
    asked.excluded.emplace_back(id);
  }
  return asked;
}

std::vector<uint64_t> listed(const RenewReply::Group& reply) {
  std::vector<uint64_t> ids;
  for (const TimerId id : reply.listed) ids.push_back(id.value());
  return ids;
}

std::vector<uint64_t> due(TimerKeeper& keeper, LaggingTime now, size_t max = 1000) {
  std::vector<uint64_t> ids;
  while (const auto fired = keeper.collect(now, max)) {
    EXPECT_LE(fired->timers.size(), max);
    for (const FiredTimer& timer : fired->timers) ids.push_back(timer.id.value());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

using Ids = std::vector<uint64_t>;

// Covers: LT-4
TEST(TimerKeeperTest, OnlyALeaderFires) {
  TimerKeeper keeper;
  keeper.apply(kMachine, arm(1, 10ms), at(0ms));
  EXPECT_EQ(due(keeper, at(1h)), Ids{});
  EXPECT_EQ(keeper.next_deadline(), LaggingTime::max());
}

// Covers: LT-2
TEST(TimerKeeperTest, ATimerIsDueItsFullDurationAfterItsApply) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms), at(5ms));
  keeper.apply(kMachine, arm(2, 100ms, group_of(7)), at(6ms));
  EXPECT_EQ(keeper.next_deadline(), at(105ms));
  EXPECT_EQ(due(keeper, at(105ms - 1ns)), Ids{});
  EXPECT_EQ(due(keeper, at(105ms)), Ids{1});
  EXPECT_EQ(due(keeper, at(106ms - 1ns)), Ids{});
  EXPECT_EQ(due(keeper, at(106ms)), Ids{2});
  EXPECT_EQ(due(keeper, at(1h)), Ids{});  // both are firing
}

// Covers: LT-5
TEST(TimerKeeperTest, ATakeoverGivesEveryTimerItsFullDuration) {
  TimerKeeper keeper;
  keeper.apply(kMachine, arm(1, 100ms), at(0ms));
  keeper.apply(kMachine, arm(2, 150ms, group_of(7, 150ms)), at(0ms));
  keeper.lead(at(90ms));
  EXPECT_EQ(due(keeper, at(190ms - 1ns)), Ids{});
  EXPECT_EQ(due(keeper, at(190ms)), Ids{1});
  EXPECT_EQ(due(keeper, at(240ms - 1ns)), Ids{});
  EXPECT_EQ(due(keeper, at(240ms)), Ids{2});
}

// Covers: REG_F25 FLT_O04
TEST(TimerKeeperTest, ATakeoverOfManyTimersLooksAtNoneOfThem) {
  TimerKeeper keeper;
  for (uint64_t id = 1; id <= 100'000; ++id) keeper.apply(kMachine, arm(id, 100ms, group_of(id % 10)), at(0ms));
  for (int i = 1; i <= 2000; ++i) {  // otherwise 2 * 10^8 checks: the test would time out
    keeper.lead(at(i * 99ms));
    ASSERT_EQ(due(keeper, at(i * 99ms + 98ms)), Ids{});
  }
  EXPECT_EQ(keeper.size(), 100'000u);
}

// A million sessions on three processes. Elections, renewals and turns in between look at none of them, however many there are;
// only the one process that died is scanned, once.
// Covers: S-33 LT-5 REG_F25
TEST(TimerKeeperTest, ElectionsAndRenewalsOfAMillionSessionsLookAtNone) {
  constexpr uint64_t kMany = 1'000'000;
  TimerKeeper keeper;
  std::map<uint64_t, RenewRequest::Group> asked;
  for (uint64_t group = 0; group < 3; ++group) asked[group].group = group_of(group);
  for (uint64_t id = 1; id <= kMany; ++id) {
    keeper.apply(kMachine, arm(id, 100ms, group_of(id % 3)), at(0ms));
    RenewRequest::Group& ask = asked[id % 3];
    ask.highest = TimerId(id);
    ask.count += 1;
    ask.sum += timer_set_hash(TimerId(id));
  }
  Duration now = 0ms;
  for (int election = 0; election < 50; ++election) {
    keeper.follow();
    keeper.lead(at(now));
    for (int turn = 0; turn < 5; ++turn) {
      now += 40ms;
      for (const uint64_t group : {0, 1, 2}) {
        ASSERT_EQ(keeper.renew(kMachine, asked[group], at(now)).coverage, Coverage::All);
      }
      ASSERT_EQ(due(keeper, at(now)), Ids{});
    }
  }
  EXPECT_EQ(keeper.looks(), 0u);
  ASSERT_EQ(keeper.renew(kMachine, asked[0], at(now + 90ms)).coverage, Coverage::All);
  ASSERT_EQ(keeper.renew(kMachine, asked[1], at(now + 90ms)).coverage, Coverage::All);
  uint64_t dead = 0;
  while (const auto fired = keeper.collect(at(now + 110ms), 10'000)) dead += fired->timers.size();
  EXPECT_EQ(dead, asked[2].count);
  EXPECT_EQ(keeper.looks(), dead + (dead + 9'999) / 10'000 - 1) << "one more where an entry was full";
}

// Covers: REG_F26 FLT_O04
TEST(TimerKeeperTest, OneThatIsRenewedLivesAmongAHundredThousandThatDie) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  constexpr uint64_t kDying = 100'000;
  for (uint64_t id = 1; id <= kDying; ++id) keeper.apply(kMachine, arm(id, 100ms, group_of(id % 10)), at(0ms));
  const uint64_t living = kDying + 1;
  keeper.apply(kMachine, arm(living, 100ms, group_of(77)), at(0ms));
  const auto renew = [&](LaggingTime now) {
    return keeper.renew(kMachine, asking(group_of(77), {living}), now).coverage == Coverage::All;
  };
  EXPECT_TRUE(renew(at(50ms)));
  uint64_t dead = 0;
  for (int turn = 0; const auto fired = keeper.collect(at(100ms), 1024); ++turn) {  // renewals continue between the entries
    dead += fired->timers.size();
    ASSERT_TRUE(renew(at(100ms))) << turn;
  }
  EXPECT_EQ(dead, kDying);
  EXPECT_EQ(due(keeper, at(199ms)), Ids{});
  EXPECT_EQ(due(keeper, at(200ms)), Ids{living});
}

// Covers: REG_F26 FLT_O04
TEST(TimerKeeperTest, MassDeathIsFoundInOnePassOverTheGroup) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  constexpr uint64_t kMany = 20'000;
  for (uint64_t id = 1; id <= kMany; ++id) keeper.apply(kMachine, arm(id, 100ms, group_of(7)), at(0ms));
  uint64_t next = 0;  // one at a time: scanning the whole group for each would be 2 * 10^8 checks
  while (const auto fired = keeper.collect(at(100ms), 1)) {
    ASSERT_EQ(fired->timers.size(), 1u);
    ASSERT_EQ(fired->timers[0].id.value(), ++next);
  }
  EXPECT_EQ(next, kMany);
}

// Covers: LT-2
TEST(TimerKeeperTest, ARenewedGroupIsDueItsTtlAfterTheReceipt) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  for (const uint64_t id : {1, 2, 3}) keeper.apply(kMachine, arm(id, 100ms, group_of(7)), at(0ms));
  const auto reply = keeper.renew(kMachine, asking(group_of(7), {1, 2, 3}), at(60ms));
  EXPECT_EQ(reply.group, group_of(7));
  EXPECT_EQ(reply.coverage, Coverage::All);
  EXPECT_EQ(listed(reply), Ids{});
  EXPECT_EQ(due(keeper, at(160ms - 1ns)), Ids{});
  EXPECT_EQ(due(keeper, at(160ms)), (Ids{1, 2, 3}));
}

TEST(TimerKeeperTest, ALateRenewalNeverShortensADeadline) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms, group_of(7)), at(50ms));
  keeper.renew(kMachine, asking(group_of(7), {1}), at(40ms));
  EXPECT_EQ(due(keeper, at(150ms - 1ns)), Ids{});
  keeper.renew(kMachine, asking(group_of(7), {1}), at(120ms));
  keeper.renew(kMachine, asking(group_of(7), {1}), at(110ms));
  EXPECT_EQ(due(keeper, at(220ms - 1ns)), Ids{});
  EXPECT_EQ(due(keeper, at(220ms)), Ids{1});
}

TEST(TimerKeeperTest, ARenewalConcernsItsOwnGroupOnly) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  TimerGroup reborn = group_of(7);
  reborn.boot = reborn.boot.next();
  TimerGroup resumed = group_of(7);
  resumed.incarnation = 2;
  keeper.apply(kMachine, arm(1, 100ms, group_of(7)), at(0ms));
  keeper.apply(kMachine, arm(2, 100ms, group_of(8)), at(0ms));
  keeper.apply(kMachine, arm(3, 100ms, reborn), at(0ms));
  keeper.apply(kMachine, arm(4, 100ms, resumed), at(0ms));
  keeper.apply(MachineId(2), arm(1, 100ms, group_of(7)), at(0ms));
  EXPECT_EQ(keeper.renew(kMachine, asking(group_of(7), {1}), at(50ms)).coverage, Coverage::All);
  EXPECT_EQ(due(keeper, at(100ms)), (Ids{1, 2, 3, 4}));  // 1 of the other machine
  EXPECT_EQ(due(keeper, at(150ms)), Ids{1});
}

TEST(TimerKeeperTest, AnUnknownGroupIsCoveredOnlyIfNothingWasMeant) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  EXPECT_EQ(keeper.renew(kMachine, asking(group_of(7), {}), at(1ms)).coverage, Coverage::All);
  const auto reply = keeper.renew(kMachine, asking(group_of(7), {1}), at(1ms));
  EXPECT_EQ(reply.coverage, Coverage::Only);
  EXPECT_EQ(listed(reply), Ids{});
}

// Covers: S-45
TEST(TimerKeeperTest, ATimerYoungerThanTheSenderKnowsIsNotCovered) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms, group_of(7)), at(0ms));
  keeper.apply(kMachine, arm(2, 100ms, group_of(7)), at(0ms));
  const auto reply = keeper.renew(kMachine, asking(group_of(7), {1}), at(50ms));
  EXPECT_EQ(reply.coverage, Coverage::All);
  EXPECT_EQ(due(keeper, at(100ms)), Ids{2});  // it is not renewed, so it ends
  EXPECT_EQ(due(keeper, at(150ms)), Ids{1});
}

// Covers: S-45
TEST(TimerKeeperTest, AnOvertakenRenewalCoversWhatItsSenderKnewThen) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  for (const uint64_t id : {1, 2, 3}) keeper.apply(kMachine, arm(id, 100ms, group_of(7)), at(0ms));
  keeper.renew(kMachine, asking(group_of(7), {1, 2, 3}), at(40ms));
  keeper.renew(kMachine, asking(group_of(7), {1}), at(60ms));
  keeper.renew(kMachine, asking(group_of(7), {1, 2}), at(50ms));
  EXPECT_EQ(due(keeper, at(140ms)), Ids{3});
  EXPECT_EQ(due(keeper, at(150ms)), Ids{2});
  EXPECT_EQ(due(keeper, at(160ms)), Ids{1});
}

TEST(TimerKeeperTest, ADifferentCountOrSumNamesExactlyWhatWasRenewed) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  for (const uint64_t id : {1, 2, 3, 9}) keeper.apply(kMachine, arm(id, 100ms, group_of(7)), at(0ms));
  const auto more = keeper.renew(kMachine, asking(group_of(7), {1, 2, 3, 4}), at(50ms));  // 4 no longer exists here
  EXPECT_EQ(more.coverage, Coverage::Only);
  EXPECT_EQ(listed(more), (Ids{1, 2, 3}));
  const auto fewer = keeper.renew(kMachine, asking(group_of(7), {1, 3}), at(50ms));  // the sender does not know 2
  EXPECT_EQ(fewer.coverage, Coverage::Only);
  EXPECT_EQ(listed(fewer), (Ids{1, 2, 3}));
  const auto other = keeper.renew(kMachine, asking(group_of(7), {1, 2, 4}), at(50ms));  // equal count, other set
  EXPECT_EQ(other.coverage, Coverage::Only);
  EXPECT_EQ(listed(other), (Ids{1, 2, 3}));
}

TEST(TimerKeeperTest, AnExcludedTimerKeepsItsDeadlineAndIsNeverCoveredAgain) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  for (const uint64_t id : {1, 2}) keeper.apply(kMachine, arm(id, 100ms, group_of(7)), at(0ms));
  keeper.renew(kMachine, asking(group_of(7), {1, 2}), at(20ms));
  EXPECT_EQ(keeper.renew(kMachine, asking(group_of(7), {1}, {2}), at(50ms)).coverage, Coverage::All);
  EXPECT_EQ(keeper.renew(kMachine, asking(group_of(7), {1}, {2}), at(60ms)).coverage, Coverage::All);
  EXPECT_EQ(keeper.renew(kMachine, asking(group_of(7), {1, 2}), at(70ms)).coverage, Coverage::Only);
  EXPECT_EQ(due(keeper, at(120ms - 1ns)), Ids{});
  EXPECT_EQ(due(keeper, at(120ms)), Ids{2});
  EXPECT_EQ(due(keeper, at(170ms)), Ids{1});
}

// A process gave a session up, or never learned that its resume had succeeded, and says so in its renewals. Then it
// takes the session over, and one of those renewals arrives late: the new binding is not what was given up.
// Covers: S-45 REG_F81
TEST(TimerKeeperTest, ALateExclusionOfAPreviousLifeExcludesNothingOfTheNewOne) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms, group_of(7)), at(0ms), Index(10));
  keeper.apply(kMachine, arm(2, 100ms, group_of(7)), at(0ms), Index(11));
  const RenewRequest::Group gave_up = asking(group_of(7), {1}, {2});
  keeper.apply(kMachine, arm(2, 100ms, group_of(7), 1), at(10ms), Index(20));  // resumed by the same process
  EXPECT_EQ(listed(keeper.renew(kMachine, gave_up, at(20ms), Index(15))), (Ids{1, 2})) << "the sets differ, so they are named";
  const RenewRequest::Group has_both = asking(group_of(7), {1, 2});
  EXPECT_EQ(keeper.renew(kMachine, has_both, at(60ms), Index(20)).coverage, Coverage::All);
  EXPECT_EQ(due(keeper, at(160ms - 1ns)), Ids{});
  EXPECT_EQ(keeper.renew(kMachine, asking(group_of(7), {1}, {2}), at(90ms), Index(20)).coverage, Coverage::All)
      << "what is given up as of the resume itself, or later, is";
  EXPECT_EQ(due(keeper, at(190ms - 1ns)), Ids{2});
}

// Exclusions of timers that the sender of a renewal cannot know yet are ignored; without that statement they count for all.
// Covers: S-45
TEST(TimerKeeperTest, ARenewalThatDoesNotSayWhatItKnewExcludesAsEver) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms, group_of(7)), at(0ms), Index(10));
  keeper.renew(kMachine, asking(group_of(7), {}, {1}), at(50ms));
  EXPECT_EQ(due(keeper, at(100ms)), Ids{1});
}

TEST(TimerKeeperTest, ExcludingTheLastTimerOfAGroupEndsTheGroup) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms, group_of(7)), at(0ms));
  EXPECT_EQ(keeper.renew(kMachine, asking(group_of(7), {}, {1}), at(50ms)).coverage, Coverage::All);
  EXPECT_EQ(due(keeper, at(100ms)), Ids{1});
}

TEST(TimerKeeperTest, NobodyExcludesATimerOfAnotherGroup) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms, group_of(7)), at(0ms));
  keeper.apply(kMachine, arm(2, 100ms, group_of(8)), at(0ms));
  keeper.renew(kMachine, asking(group_of(8), {2}, {1}), at(10ms));
  EXPECT_EQ(keeper.renew(kMachine, asking(group_of(7), {1}), at(50ms)).coverage, Coverage::All);
  EXPECT_EQ(due(keeper, at(110ms)), Ids{2});
}

// Covers: LT-4
TEST(TimerKeeperTest, WhatIsFiringIsNotAcknowledged) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms, group_of(7)), at(0ms));
  keeper.apply(kMachine, arm(2, 100ms, group_of(7)), at(10ms));
  keeper.apply(kMachine, arm(3, 100ms, group_of(7)), at(0ms));
  EXPECT_EQ(due(keeper, at(100ms)), (Ids{1, 3}));
  const auto matching = keeper.renew(kMachine, asking(group_of(7), {1, 2, 3}), at(100ms));
  EXPECT_EQ(matching.coverage, Coverage::AllExcept);
  EXPECT_EQ(listed(matching), (Ids{1, 3}));
  const auto younger = keeper.renew(kMachine, asking(group_of(7), {1, 2}), at(101ms));
  EXPECT_EQ(younger.coverage, Coverage::AllExcept);
  EXPECT_EQ(listed(younger), Ids{1});
  const auto different = keeper.renew(kMachine, asking(group_of(7), {1, 2, 3, 4}), at(102ms));
  EXPECT_EQ(different.coverage, Coverage::Only);
  EXPECT_EQ(listed(different), Ids{2});
  EXPECT_EQ(due(keeper, at(202ms)), Ids{2});
}

// Covers: LT-4
TEST(TimerKeeperTest, AnEndThatWasAppliedLeavesTheGroup) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms, group_of(7)), at(0ms));
  keeper.apply(kMachine, arm(2, 100ms, group_of(7)), at(50ms));
  EXPECT_EQ(due(keeper, at(100ms)), Ids{1});
  keeper.apply(kMachine, disarm(1), at(101ms));
  EXPECT_EQ(keeper.renew(kMachine, asking(group_of(7), {2}), at(102ms)).coverage, Coverage::All);
  EXPECT_EQ(keeper.size(), 1u);
}

// Covers: REG_F19
TEST(TimerKeeperTest, AnEndThatNeverReachedTheLogIsDueAgain) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms), at(0ms));
  keeper.apply(kMachine, arm(2, 100ms, group_of(7)), at(0ms));
  for (int i = 0; i < 5; ++i) {
    std::vector<FireTimers> all;
    while (auto fired = keeper.collect(at(100ms), 1)) all.push_back(*std::move(fired));
    ASSERT_EQ(all.size(), 2u);
    for (const FireTimers& fired : all) keeper.unfire(fired);
    EXPECT_LE(keeper.next_deadline(), at(100ms));
  }
  EXPECT_EQ(due(keeper, at(100ms)), (Ids{1, 2}));
}

TEST(TimerKeeperTest, UndoingAnEndOfAnotherGenerationChangesNothing) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms), at(0ms));
  const auto fired = keeper.collect(at(100ms), 10);
  ASSERT_TRUE(fired);
  keeper.apply(kMachine, arm(1, 100ms, {}, 1), at(100ms));
  keeper.unfire(*fired);
  EXPECT_EQ(due(keeper, at(199ms)), Ids{});
  EXPECT_EQ(due(keeper, at(200ms)), Ids{1});
}

// Covers: LT-4
TEST(TimerKeeperTest, LosingLeadershipForgetsWhatWasFiring) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms), at(0ms));
  keeper.apply(kMachine, arm(2, 100ms, group_of(7)), at(0ms));
  EXPECT_EQ(due(keeper, at(100ms)), (Ids{1, 2}));
  keeper.follow();
  EXPECT_EQ(due(keeper, at(1h)), Ids{});
  keeper.lead(at(2h));
  EXPECT_EQ(due(keeper, at(2h + 99ms)), Ids{});
  EXPECT_EQ(due(keeper, at(2h + 100ms)), (Ids{1, 2}));
}

// Covers: LT-6
TEST(TimerKeeperTest, AShiftMovesEveryDeadlineByTheGap) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms), at(0ms));
  keeper.apply(kMachine, arm(2, 100ms, group_of(7)), at(10ms));
  keeper.shift(1s);
  EXPECT_EQ(keeper.next_deadline(), at(1100ms));
  EXPECT_EQ(due(keeper, at(1100ms - 1ns)), Ids{});
  EXPECT_EQ(due(keeper, at(1100ms)), Ids{1});
  keeper.apply(kMachine, arm(3, 100ms), at(1105ms));  // armed after the gap: not moved
  EXPECT_EQ(due(keeper, at(1110ms)), Ids{2});
  EXPECT_EQ(due(keeper, at(1205ms)), Ids{3});
}

TEST(TimerKeeperTest, ArmingAgainStartsOver) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms, group_of(7)), at(0ms));
  keeper.apply(kMachine, arm(1, 200ms, group_of(8, 200ms), 1), at(50ms));  // another generation, process and TTL
  EXPECT_EQ(keeper.renew(kMachine, asking(group_of(7), {1}), at(60ms)).coverage, Coverage::Only);
  EXPECT_EQ(due(keeper, at(250ms - 1ns)), Ids{});
  const auto fired = keeper.collect(at(250ms), 10);
  ASSERT_TRUE(fired);
  EXPECT_EQ(fired->timers, (std::vector<FiredTimer>{{TimerId(1), Generation(1)}}));
  EXPECT_EQ(keeper.size(), 1u);
}

TEST(TimerKeeperTest, DisarmedTimersLeaveNothingBehind) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  keeper.apply(kMachine, arm(1, 100ms), at(0ms));
  keeper.apply(kMachine, arm(2, 100ms, group_of(7)), at(0ms));
  keeper.apply(kMachine, disarm(1), at(1ms));
  keeper.apply(kMachine, disarm(2), at(1ms));
  keeper.apply(kMachine, disarm(3), at(1ms));  // never armed
  EXPECT_EQ(keeper.size(), 0u);
  EXPECT_EQ(keeper.next_deadline(), LaggingTime::max());
}

// Covers: REG_F22
TEST(TimerKeeperTest, TheLongestDurationNeverEnds) {
  TimerKeeper keeper;
  keeper.lead(at(1ms));
  keeper.apply(kMachine, arm(1, Duration::max()), at(1ms));
  keeper.apply(kMachine, arm(2, Duration::max(), group_of(7, Duration::max())), at(1ms));
  keeper.shift(1h);
  EXPECT_EQ(due(keeper, at(100h)), Ids{});
  EXPECT_EQ(keeper.next_deadline(), LaggingTime::max());
}

TEST(TimerKeeperTest, AnEntryIsOfOneMachineAndWithinItsLimit) {
  TimerKeeper keeper;
  keeper.lead(at(0ms));
  for (uint64_t id = 1; id <= 5; ++id) {
    keeper.apply(MachineId(1 + id % 2), arm(id, 100ms), at(0ms));
    keeper.apply(MachineId(1 + id % 2), arm(10 + id, 100ms, group_of(7)), at(0ms));
  }
  std::map<MachineId, size_t> seen;
  while (const auto fired = keeper.collect(at(100ms), 2)) {
    EXPECT_LE(fired->timers.size(), 2u);
    seen[fired->machine] += fired->timers.size();
  }
  EXPECT_EQ(seen, (std::map<MachineId, size_t>{{MachineId(1), 4}, {MachineId(2), 6}}));
}

// The ten-line twin: every timer carries its own deadline, and everything scans all of them.
struct Naive {
  struct Timer {
    TimerGroup group;
    Duration duration{};
    LaggingTime base;
    bool firing = false;
  };
  std::map<uint64_t, Timer> timers;
  bool leading = false;

  void raise_all(LaggingTime to) {
    for (auto& [id, timer] : timers) timer.base = std::max(timer.base, to);
  }
  RenewReply::Group renew(const RenewRequest::Group& asked, LaggingTime received) {
    for (const TimerId id : asked.excluded) {
      if (const auto it = timers.find(id.value()); it != timers.end() && it->second.group == asked.group) it->second.group = {};
    }
    RenewRequest::Group mine = asking(asked.group, {});
    RenewReply::Group reply{asked.group, Coverage::Only, {}};
    std::vector<TimerId> firing;
    for (auto& [id, timer] : timers) {
      if (timer.group != asked.group || id > asked.highest.value()) continue;
      timer.base = std::max(timer.base, received);
      ++mine.count;
      mine.sum += timer_set_hash(TimerId(id));
      (timer.firing ? firing : reply.listed).emplace_back(id);
    }
    if (mine.count != asked.count || mine.sum != asked.sum) return reply;
    reply.listed = firing;
    reply.coverage = firing.empty() ? Coverage::All : Coverage::AllExcept;
    return reply;
  }
  std::vector<uint64_t> due(LaggingTime now) {
    std::vector<uint64_t> ids;
    for (auto& [id, timer] : timers) {
      if (!leading || timer.firing || timer.base + timer.duration > now) continue;
      timer.firing = true;
      ids.push_back(id);
    }
    return ids;
  }
};

TEST(TimerKeeperTest, TwinRandomOperationsGiveTheSameDueTimersAsTheNaiveModel) {
  size_t fired_in_all = 0;
  std::map<Coverage, size_t> coverages;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    TimerKeeper keeper;
    Naive naive;
    LaggingTime now = at(1s);
    const auto any_id = [&] { return random.between(1, 12); };
    const auto any_group = [&] {
      return random.below(3) == 0 ? TimerGroup{} : group_of(random.between(1, 2), ms(20 * random.between(1, 2)));
    };
    for (int step = 0; step < 400; ++step) {
      now += ms(random.below(8));
      switch (random.below(10)) {
        case 0:
        case 1: {
          const TimerGroup group = any_group();
          const Duration duration = group.alone() ? ms(random.between(1, 60)) : group.ttl + ms(5 * random.below(3));
          const uint64_t id = any_id();
          keeper.apply(kMachine, arm(id, duration, group, static_cast<uint64_t>(step)), now);
          naive.timers[id] = {group, duration, now};
          break;
        }
        case 2: {
          const uint64_t id = any_id();
          keeper.apply(kMachine, disarm(id), now);
          naive.timers.erase(id);
          break;
        }
        case 3:
          if (random.below(4) != 0) break;
          keeper.follow();
          naive.leading = false;
          for (auto& [id, timer] : naive.timers) timer.firing = false;
          break;
        case 4:
          if (random.below(2) != 0 || naive.leading) break;
          keeper.lead(now);
          naive.leading = true;
          naive.raise_all(now);
          break;
        case 5: {
          if (random.below(4) != 0) break;
          const Duration gap = ms(random.below(50));
          now += gap;
          keeper.shift(gap);
          for (auto& [id, timer] : naive.timers) timer.base += gap;
          break;
        }
        case 6:
        case 7: {  // a correct sender, or a slightly wrong one
          const TimerGroup group = group_of(random.between(1, 2), ms(20 * random.between(1, 2)));
          std::vector<uint64_t> known, excluded;
          const uint64_t highest = any_id();
          for (const auto& [id, timer] : naive.timers) {
            if (timer.group != group || id > highest) continue;
            (random.below(15) == 0 ? excluded : known).push_back(id);
          }
          if (random.below(8) == 0) known.push_back(any_id());
          RenewRequest::Group asked = asking(group, known, excluded);
          asked.highest = TimerId(highest);
          const LaggingTime received = now - ms(random.below(5));
          const auto expected = naive.renew(asked, received);
          ASSERT_EQ(keeper.renew(kMachine, asked, received), expected) << "step " << step;
          ++coverages[expected.coverage];
          break;
        }
        default: {
          const std::vector<uint64_t> expected = naive.due(now);
          ASSERT_TRUE(expected.empty() || keeper.next_deadline() <= now) << "step " << step;
          std::vector<FireTimers> all;
          std::vector<uint64_t> ids;
          while (auto fired = keeper.collect(now, random.between(1, 4))) all.push_back(*std::move(fired));
          for (const FireTimers& fired : all) {
            for (const FiredTimer& timer : fired.timers) ids.push_back(timer.id.value());
          }
          std::sort(ids.begin(), ids.end());
          ASSERT_EQ(ids, expected) << "step " << step;
          ASSERT_TRUE(!naive.leading || keeper.next_deadline() > now) << "nothing is left to do, step " << step;
          fired_in_all += ids.size();
          if (random.below(3) != 0) break;
          for (const FireTimers& fired : all) {
            keeper.unfire(fired);
            for (const FiredTimer& timer : fired.timers) naive.timers.at(timer.id.value()).firing = false;
          }
        }
      }
      ASSERT_EQ(keeper.size(), naive.timers.size());
    }
  }
  EXPECT_GT(fired_in_all, 5'000u);
  for (const Coverage coverage : {Coverage::All, Coverage::AllExcept, Coverage::Only}) EXPECT_GT(coverages[coverage], 1'000u);
}

}  // namespace
}  // namespace coordkit::engine

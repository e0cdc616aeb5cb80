#include <gtest/gtest.h>

#include "coordkit/engine/wire.h"
#include "engine/timers/renewal_rounds.h"
#include "tests/unit/engine/lagging_time.h"

namespace coordkit::engine {
namespace {

using namespace std::chrono_literals;

const TimerGroup kGroup{ReplicaId(7), BootCounter(1), 1, 100ms};

struct RenewalsTest : ::testing::Test {
  RenewalsTest() {
    keeper.lead(at(0ms));
    keeper.apply(kCoordination, {TimerOp::Kind::Arm, TimerId(1), Generation(0), 100ms, kGroup}, at(0ms));
  }
  void receive(uint64_t attempt, Duration when) {
    RenewRequest request{.attempt = attempt, .groups = {{kGroup, TimerId(1), 1, timer_set_hash(TimerId(1)), {}}}};
    renewals.receive({ReplicaId(7), at(when), std::move(request)});
  }
  std::vector<uint64_t> answered(uint64_t applied) {
    std::vector<AnsweredRenewal> out;
    renewals.answer(Index(applied), at(0ms), keeper, out);
    std::vector<uint64_t> attempts;
    for (const AnsweredRenewal& one : out) {
      EXPECT_EQ(one.to, ReplicaId(7));
      EXPECT_EQ(one.reply.groups.size(), 1u);
      attempts.push_back(one.reply.attempt);
    }
    return attempts;
  }

  TimerKeeper keeper;
  Renewals renewals;
};

using Attempts = std::vector<uint64_t>;

// Covers: T3
TEST(RenewReplyTest, OneThatNamesMoreTimersThanAMessageMaySaysOfTheRestThatItIsNotRenewed) {
  using enum RenewReply::Coverage;
  RenewReply reply{.attempt = 1};
  for (const auto coverage : {Only, Only, AllExcept, AllExcept}) {
    RenewReply::Group& group = reply.groups.emplace_back(RenewReply::Group{kGroup, coverage, {}});
    const size_t listed = reply.groups.size() == 3 ? kTimersListedMax : kTimersListedMax / 2 - 2;
    for (uint64_t id = 1; id <= listed; ++id) group.listed.emplace_back(id);
    if (reply.groups.size() == 4) group.listed = {TimerId(1), TimerId(2)};
  }
  shorten(reply);
  EXPECT_EQ(reply.groups[1].listed.size(), kTimersListedMax / 2 - 2);
  EXPECT_EQ(reply.groups[2].coverage, Only);
  EXPECT_TRUE(reply.groups[2].listed.empty()) << "the end of any of them may have been proposed";
  EXPECT_EQ(reply.groups[3].coverage, AllExcept);
  EXPECT_EQ(reply.groups[3].listed.size(), 2u);
  for (uint64_t id = kTimersListedMax / 2 - 1; id < kTimersListedMax / 2 + 100; ++id) reply.groups[1].listed.emplace_back(id);
  shorten(reply);
  EXPECT_EQ(reply.groups[1].listed.size(), kTimersListedMax / 2 + 2);
  EXPECT_EQ(reply.groups[3].coverage, Only);
  EXPECT_TRUE(decode(encode(Message(reply))).ok());
}

// Covers: LT-3
TEST_F(RenewalsTest, NothingIsAnsweredBeforeItsRoundHeld) {
  receive(1, 10ms);
  EXPECT_TRUE(renewals.unconfirmed());
  EXPECT_EQ(answered(9), Attempts{});
  renewals.question(Ticket(1));
  EXPECT_FALSE(renewals.unconfirmed());
  EXPECT_EQ(answered(9), Attempts{});
  renewals.confirmed(Ticket(1), Index(5));
  EXPECT_EQ(answered(9), Attempts{1});
  EXPECT_EQ(answered(9), Attempts{});
}

// Covers: LT-3
TEST_F(RenewalsTest, ARoundSpeaksOnlyForWhatWasReceivedBeforeItBegan) {
  receive(1, 10ms);
  receive(2, 11ms);
  renewals.question(Ticket(1));
  receive(3, 12ms);
  renewals.confirmed(Ticket(1), Index(5));
  EXPECT_EQ(answered(9), (Attempts{1, 2}));
  EXPECT_TRUE(renewals.unconfirmed());
  renewals.question(Ticket(2));
  renewals.confirmed(Ticket(1), Index(5));
  EXPECT_EQ(answered(9), Attempts{});
  renewals.confirmed(Ticket(2), Index(5));
  EXPECT_EQ(answered(9), Attempts{3});
}

// Covers: LT-3
TEST_F(RenewalsTest, TheStateOfThatMomentMustBeApplied) {
  receive(1, 10ms);
  renewals.question(Ticket(1));
  renewals.confirmed(Ticket(1), Index(5));
  EXPECT_EQ(answered(4), Attempts{});
  EXPECT_EQ(answered(5), Attempts{1});
}

// Covers: LT-3 REG_R67
TEST_F(RenewalsTest, ALeaderThatHasNotAppliedItsFirstEntryAnswersNothing) {
  keeper.follow();
  receive(1, 10ms);
  renewals.question(Ticket(1));
  renewals.confirmed(Ticket(1), Index(5));
  EXPECT_EQ(answered(9), Attempts{});
  keeper.lead(at(20ms));
  EXPECT_EQ(answered(9), Attempts{1});
}

// Covers: LT-3
TEST_F(RenewalsTest, AChangeOfRoleDropsAllOfThem) {
  receive(1, 10ms);
  renewals.question(Ticket(1));
  receive(2, 11ms);
  renewals.drop_all();
  EXPECT_FALSE(renewals.unconfirmed());
  renewals.confirmed(Ticket(1), Index(5));
  EXPECT_EQ(answered(9), Attempts{});
}

// Covers: LT-2
TEST_F(RenewalsTest, TheDeadlineCountsFromTheReceiptNotTheAnswer) {
  receive(1, 10ms);
  renewals.question(Ticket(1));
  renewals.confirmed(Ticket(1), Index(5));
  EXPECT_EQ(answered(9), Attempts{1});  // however late this is
  EXPECT_FALSE(keeper.collect(at(110ms - 1ns), 10));
  EXPECT_TRUE(keeper.collect(at(110ms), 10));
}

// Covers: S-32
TEST_F(RenewalsTest, ALookIsAnsweredLikeARenewalAndSaysWhatIsLeft) {
  keeper.apply(kCoordination, {TimerOp::Kind::Arm, TimerId(2), Generation(0), 50ms, {}}, at(0ms));
  RenewRequest look{.attempt = 9, .looks = {TimerId(1), TimerId(2), TimerId(3)}};
  renewals.receive({ReplicaId(7), at(10ms), look});
  renewals.question(Ticket(1));
  std::vector<AnsweredRenewal> out;
  renewals.answer(Index(9), at(60ms), keeper, out);
  EXPECT_TRUE(out.empty()) << "not confirmed";
  renewals.confirmed(Ticket(1), Index(5));
  renewals.answer(Index(9), at(60ms), keeper, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].reply.attempt, 9u);
  EXPECT_EQ(out[0].reply.looks, (std::vector<RenewReply::Remaining>{{TimerId(1), 40ms}, {TimerId(2), 0ms}})) << "there is no 3";
  EXPECT_FALSE(keeper.collect(at(99ms), 1)->timers.empty()) << "and has renewed nothing";
}

// Covers: LT-4
TEST_F(RenewalsTest, AnEndProposedInBetweenIsNotAcknowledged) {
  receive(1, 99ms);
  renewals.question(Ticket(1));
  ASSERT_TRUE(keeper.collect(at(100ms), 10));
  renewals.confirmed(Ticket(1), Index(5));
  std::vector<AnsweredRenewal> out;
  renewals.answer(Index(9), at(0ms), keeper, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].reply.groups[0].coverage, RenewReply::Coverage::AllExcept);
  EXPECT_EQ(out[0].reply.groups[0].listed, std::vector<TimerId>{TimerId(1)});
}

}  // namespace
}  // namespace coordkit::engine

#include <gtest/gtest.h>

#include "engine/calls/pending_reads.h"
#include "tests/unit/engine/lagging_time.h"

namespace coordkit::engine {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRetry = 300ms;

struct ReadsTest : ::testing::Test {
  Reads reads{kRetry, BootCounter(1)};

  void ask(uint64_t ticket, Duration deadline = 10s) { reads.ask({.ticket = Ticket(ticket), .deadline = at(deadline)}); }
  std::vector<uint64_t> ready(uint64_t applied) {
    std::vector<Ask> asks;
    reads.collect(Index(applied), asks);
    std::vector<uint64_t> tickets;
    for (const Ask& one : asks) tickets.push_back(one.ticket.value());
    return tickets;
  }
  std::vector<Completion> expired(Duration now) {
    std::vector<Completion> completions;
    reads.expire(at(now), completions);
    return completions;
  }
};

using Tickets = std::vector<uint64_t>;

TEST_F(ReadsTest, WithoutAReadNoRoundIsAskedForAndNoDeadlineIsSet) {
  EXPECT_EQ(reads.question(at(0ms)), 0u);
  EXPECT_EQ(reads.next_deadline(true), LaggingTime::max());
}

TEST_F(ReadsTest, EverythingAskedSoFarIsOneQuestion) {
  ask(1);
  ask(2);
  EXPECT_EQ(reads.next_deadline(true), LaggingTime::min());
  EXPECT_EQ(reads.next_deadline(false), at(10s));
  const uint64_t id = reads.question(at(0ms));
  ASSERT_NE(id, 0u);
  EXPECT_EQ(reads.question(at(1ms)), 0u);
  reads.confirmed(id, Index(5));
  EXPECT_EQ(ready(5), (Tickets{1, 2}));
  EXPECT_EQ(reads.size(), 0u);
}

TEST_F(ReadsTest, AConfirmedReadWaitsUntilItsIndexIsApplied) {
  ask(1);
  reads.confirmed(reads.question(at(0ms)), Index(5));
  EXPECT_EQ(ready(4), Tickets{});
  EXPECT_EQ(ready(5), Tickets{1});
  EXPECT_EQ(ready(6), Tickets{});
}

// Covers: REG_R62
TEST_F(ReadsTest, ALateAnswerOfAnOldIdNeverReleasesAReadAskedAfterIt) {
  ask(1);
  const uint64_t first = reads.question(at(0ms));
  ask(2);
  reads.confirmed(first, Index(5));
  EXPECT_EQ(ready(9), Tickets{1});
  const uint64_t second = reads.question(at(1ms));
  EXPECT_GT(second, first);
  reads.confirmed(first, Index(5));  // duplicated by the network
  EXPECT_EQ(ready(9), Tickets{});
  reads.confirmed(second, Index(9));
  EXPECT_EQ(ready(9), Tickets{2});
}

// Covers: REG_R64
TEST_F(ReadsTest, ALaterAnswerReleasesOlderReads) {
  ask(1);
  reads.question(at(0ms));  // its answer gets lost
  ask(2);
  reads.confirmed(reads.question(at(1ms)), Index(5));
  EXPECT_EQ(ready(5), (Tickets{1, 2}));
}

// Covers: REG_R62
TEST_F(ReadsTest, AnAnswerToAPreviousIncarnationReleasesNothing) {
  for (uint64_t i = 1; i <= 100; ++i) {
    ask(i);
    reads.question(at(0ms));
  }
  ask(200);
  const uint64_t of_first_boot = reads.question(at(0ms));
  Reads reborn(kRetry, BootCounter(2));
  reborn.ask({.ticket = Ticket(1), .deadline = at(10s)});
  const uint64_t id = reborn.question(at(0ms));
  reborn.confirmed(of_first_boot, Index(5));
  std::vector<Ask> asks;
  reborn.collect(Index(9), asks);
  EXPECT_TRUE(asks.empty());
  reborn.confirmed(id, Index(5));
  reborn.collect(Index(9), asks);
  EXPECT_EQ(asks.size(), 1u);
}

// Covers: REG_R64
TEST_F(ReadsTest, ALostQuestionIsAskedAgain) {
  ask(1);
  const uint64_t id = reads.question(at(0ms));
  EXPECT_EQ(reads.next_deadline(true), at(kRetry));
  EXPECT_EQ(reads.question(at(kRetry - 1ns)), 0u);
  EXPECT_EQ(reads.question(at(kRetry)), id);
}

TEST_F(ReadsTest, ANewLeaderIsAskedAtOnce) {
  ask(1);
  const uint64_t id = reads.question(at(0ms));
  reads.leadership_changed();
  EXPECT_EQ(reads.next_deadline(true), LaggingTime::min());
  EXPECT_EQ(reads.question(at(1ms)), id);
}

TEST_F(ReadsTest, AForgottenReadIsNeitherAnsweredNorAskedAbout) {
  ask(1);
  ask(2);
  ask(3);
  reads.forget(Ticket(1));
  reads.forget(Ticket(77));
  reads.confirmed(reads.question(at(0ms)), Index(5));
  reads.forget(Ticket(3));
  EXPECT_EQ(ready(5), Tickets{2});
  ask(4);
  reads.forget(Ticket(4));
  EXPECT_EQ(reads.question(at(1h)), 0u);
}

TEST_F(ReadsTest, AReadThatFailedHadNoEffect) {
  ask(1, 5ms);
  ask(2, 6ms);
  reads.confirmed(reads.question(at(0ms)), Index(5));
  ask(3, 5ms);
  EXPECT_TRUE(expired(5ms - 1ns).empty());
  const auto ended = expired(5ms);
  ASSERT_EQ(ended.size(), 2u);
  for (const Completion& one : ended) EXPECT_EQ(outcome_of(one.status), Outcome::NoEffect);
  EXPECT_EQ(reason_of(ended[0].status), Reason::CallTimeout) << "confirmed, but not applied in time";
  EXPECT_EQ(reason_of(ended[1].status), Reason::NoLeader);
  EXPECT_EQ(ready(9), Tickets{2});
  EXPECT_TRUE(expired(1h).empty());
}

// Covers: REG_R75
TEST_F(ReadsTest, TimedOutReadsLeaveNothingBehind) {
  for (uint64_t ticket = 1; ticket <= 10'000; ++ticket) {
    ask(ticket, 1ms);
    reads.question(at(0ms));
    ASSERT_EQ(expired(1ms).size(), 1u);
  }
  EXPECT_EQ(reads.size(), 0u);
  EXPECT_EQ(reads.next_deadline(true), LaggingTime::max());
  EXPECT_EQ(reads.question(at(1h)), 0u);
}

// Covers: REG_R76
TEST_F(ReadsTest, FailAllEndsEachOnce) {
  ask(1);
  reads.confirmed(reads.question(at(0ms)), Index(5));
  ask(2);
  reads.question(at(0ms));
  ask(3);
  std::vector<Completion> completions;
  reads.fail_all(Reason::ReplicaFailed, "the end", completions);
  reads.fail_all(Reason::ReplicaFailed, "the end", completions);
  ASSERT_EQ(completions.size(), 3u);
  for (const Completion& one : completions) EXPECT_EQ(outcome_of(one.status), Outcome::NoEffect);
  EXPECT_EQ(ready(9), Tickets{});
}

}  // namespace
}  // namespace coordkit::engine

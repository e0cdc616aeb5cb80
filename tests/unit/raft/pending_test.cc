// Calls that outlive a leadership: a transfer, a membership change.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "raft/members/pending_change.h"
#include "raft/pending_transfer.h"
#include "solo.h"

namespace coordkit::raft::testing {
namespace {

class PendingTransferTest : public ::testing::Test {
 protected:
  PendingTransferTest() { leading_.emplace(options_, log_, streams_, now_); }
  void ask() {
    transfer_.ask(options_, {Ticket(4), ReplicaId(2), now_ + std::chrono::seconds(1)}, &*leading_, log_, now_, out_);
  }
  void judge(const Leadership& leadership, LaggingTime now) { transfer_.judge(leadership, nullptr, log_, now, out_); }

  const Options options_{.self = ReplicaId(1)};
  LaggingTime now_{std::chrono::seconds(10)};
  Log log_{options_, Recovered{.hard_state = {Term(3), ReplicaId(1)}, .entries = log_of(3, {2, 3})}};
  StreamNumbers streams_;
  std::optional<Leading> leading_;
  PendingTransfer transfer_;
  Outbox out_;
};

TEST_F(PendingTransferTest, IsDoneWhenTheTargetLeadsALaterTerm) {
  ask();
  judge({Role::Follower, Term(4), ReplicaId()}, now_);
  EXPECT_TRUE(transfer_.under_way()) << "nothing is decided yet";
  judge({Role::Follower, Term(4), ReplicaId(2)}, now_);
  ASSERT_EQ(out_.transfers.size(), 1u);
  EXPECT_EQ(out_.transfers.front(), (TransferOutcome{Ticket(4), TransferOutcome::Kind::Done}));
}

TEST_F(PendingTransferTest, IsLostToAnotherLeaderAndExpires) {
  ask();
  judge({Role::Follower, Term(5), ReplicaId(3)}, now_);
  EXPECT_EQ(out_.transfers.back().kind, TransferOutcome::Kind::Lost);
  ask();
  judge({Role::Follower, Term(3), ReplicaId()}, now_ + std::chrono::seconds(1));
  EXPECT_EQ(out_.transfers.back().kind, TransferOutcome::Kind::Expired);
  EXPECT_FALSE(transfer_.under_way());
}

TEST_F(PendingTransferTest, OnlyALeaderTransfersOnlyToAVoterAndOneAtATime) {
  transfer_.ask(options_, {Ticket(1), ReplicaId(2), now_}, nullptr, log_, now_, out_);
  EXPECT_EQ(out_.transfers.back().kind, TransferOutcome::Kind::NotLeader);
  transfer_.ask(options_, {Ticket(2), ReplicaId(9), now_}, &*leading_, log_, now_, out_);
  EXPECT_EQ(out_.transfers.back().kind, TransferOutcome::Kind::Unfit);
  ask();
  ask();
  EXPECT_EQ(out_.transfers.back().kind, TransferOutcome::Kind::InProgress);
}

// A target that never takes over is asked for again and again, by callers that would wait for a day.
// Covers: FLT_P26
TEST_F(PendingTransferTest, WhateverIsAskedProposalsAreTakenInEightOfTenElectionTimeouts) {
  const Duration step = options_.election_timeout / 30;
  const LaggingTime begin = now_;
  std::vector<LaggingTime> refused;
  for (; now_ < begin + 60 * options_.election_timeout; now_ += step) {
    judge({Role::Leader, Term(3), ReplicaId(1)}, now_);
    transfer_.ask(options_, {Ticket(4), ReplicaId(2), now_ + std::chrono::hours(24)}, &*leading_, log_, now_, out_);
    if (transfer_.under_way()) refused.push_back(now_);
  }
  ASSERT_GE(refused.size(), 300U) << "it is tried again";
  for (const LaggingTime from : refused) {
    const auto in_ten = std::ranges::count_if(
        refused, [&](LaggingTime one) { return one >= from && one < from + 10 * options_.election_timeout; });
    EXPECT_LE(in_ten * step, 2 * options_.election_timeout + step);
  }
}

TEST_F(PendingTransferTest, NoOrderLeavesBeforeTheTargetHasTheWholeLog) {
  ask();
  transfer_.send_order(*leading_, log_, out_);
  EXPECT_TRUE(out_.sends.empty());
  EXPECT_EQ(transfer_.lease_void(), Term());
}

// Covers: REG_R45
TEST(PendingChangeTest, ItsOutcomeIsInTheLogWhetherItStillLeadsOrNot) {
  const Options options{.self = ReplicaId(1)};
  Log log(options, Recovered{.hard_state = {Term(3), ReplicaId()}, .entries = log_of(3, {2, 3})});
  Outbox out;
  PendingChange change;
  change.begin(Ticket(1), at(3, 3));
  change.judge(log, out);
  EXPECT_TRUE(out.changes.empty());
  log.truncate_after(Index(2));
  change.judge(log, out);
  ASSERT_EQ(out.changes.size(), 1u);
  EXPECT_EQ(out.changes.front().kind, ChangeOutcome::Kind::Overwritten);
}

}  // namespace
}  // namespace coordkit::raft::testing

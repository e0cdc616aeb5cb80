// Questions and rounds of one leadership, without the rest of a leader.
#include "raft/confirmations.h"

#include <gtest/gtest.h>

namespace coordkit::raft::testing {
namespace {

using std::chrono::milliseconds;

class ConfirmationsTest : public ::testing::Test {
 protected:
  void ask(uint64_t ticket, uint64_t commit) { confirmations_.ask(Ticket(ticket), Index(commit), /*alone=*/false); }
  void agree(uint64_t round) {
    confirmations_.answer(
        Index(9), Index(5), [round] { return round; }, out_);
  }

  const Options options_{.election_timeout = milliseconds(300), .heartbeat_interval = milliseconds(60)};
  Confirmations confirmations_{options_};
  Outbox out_;
  LaggingTime now_{std::chrono::seconds(1)};
};

TEST_F(ConfirmationsTest, ARoundThatBeganBeforeTheQuestionDoesNotAnswerIt) {
  confirmations_.begin_round(now_);
  ask(1, 7);
  EXPECT_TRUE(confirmations_.round_wanted());
  agree(confirmations_.round());
  EXPECT_TRUE(out_.confirmations.empty());
  confirmations_.begin_round(now_);
  EXPECT_FALSE(confirmations_.round_wanted());
  agree(confirmations_.round());
  ASSERT_EQ(out_.confirmations.size(), 1u);
  EXPECT_EQ(out_.confirmations.front(), (Confirmation{Ticket(1), Answer::Yes, Index(7)}));
}

TEST_F(ConfirmationsTest, OneRoundReleasesEveryOlderQuestion) {
  for (const uint64_t ticket : {1, 2, 3}) {
    ask(ticket, 3);
    confirmations_.begin_round(now_);
  }
  agree(confirmations_.round() - 1);
  ASSERT_EQ(out_.confirmations.size(), 2u);
  EXPECT_EQ(out_.confirmations.back().read_index, Index(5)) << "no read before the own first entry";
}

// Covers: REG_R59
TEST_F(ConfirmationsTest, NothingIsAnsweredBeforeAnOwnEntryIsCommitted) {
  ask(1, 3);
  confirmations_.begin_round(now_);
  confirmations_.answer(
      Index(4), Index(5), [] { return 9; }, out_);
  EXPECT_TRUE(out_.confirmations.empty());
}

// Covers: REG_R84
TEST_F(ConfirmationsTest, ALeaderThatBecomesTheOnlyVoterAnswersReadsThatWaitForARound) {
  ask(1, 7);
  confirmations_.ask(Ticket(2), Index(8), /*alone=*/true);
  agree(confirmations_.round());
  ASSERT_EQ(out_.confirmations.size(), 2u);
  EXPECT_EQ(out_.confirmations.front(), (Confirmation{Ticket(1), Answer::Yes, Index(7)}));
}

TEST_F(ConfirmationsTest, TheEndRefusesWhatIsOpen) {
  ask(1, 3);
  ask(2, 3);
  confirmations_.refuse(out_);
  ASSERT_EQ(out_.confirmations.size(), 2u);
  EXPECT_EQ(out_.confirmations.back().held, Answer::No);
  EXPECT_FALSE(confirmations_.round_wanted());
}

TEST_F(ConfirmationsTest, AnAnswerProvesContactAtTheTimeItsRoundBegan) {
  const LaggingTime first = now_;
  confirmations_.begin_round(now_);
  const uint64_t round = confirmations_.round();
  now_ += milliseconds(60);
  confirmations_.begin_round(now_);
  EXPECT_EQ(confirmations_.begun(round), first);
  EXPECT_EQ(confirmations_.begun(round + 1), now_);
  EXPECT_EQ(confirmations_.begun(round - 1), std::nullopt);
  now_ += milliseconds(301);
  confirmations_.begin_round(now_);
  EXPECT_EQ(confirmations_.begun(round), std::nullopt) << "too long ago to prove anything";
}

}  // namespace
}  // namespace coordkit::raft::testing

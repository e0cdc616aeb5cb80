// The gate: what is dropped without a trace.
#include <gtest/gtest.h>

#include "base/check.h"
#include "solo.h"

namespace coordkit::raft::testing {
namespace {

// Covers: FLT_A09 FLT_S06
TEST(AdmissionTest, NothingHappensOnAMessageNoCorrectMemberSends) {
  Entry tampered = command(2, 2);
  tampered.payload = bytes("y");
  const uint64_t huge = ~uint64_t{0};
  const auto append = [](uint64_t term, Position previous, std::vector<Entry> entries) {
    return AppendRequest{.term = Term(term), .stream = 1, .previous = previous, .entries = std::move(entries)};
  };
  const std::pair<uint64_t, Message> cases[] = {
      {9, Heartbeat{.term = Term(5)}},  // no member
      {1, Heartbeat{.term = Term(5)}},  // ourselves
      {2, Heartbeat{.term = Term(0)}},
      {2, Heartbeat{.term = Term(huge)}},
      {2, Heartbeat{.term = Term(5), .commit = Index(huge)}},
      {2, Heartbeat{.term = Term(5), .durable = {Index(huge), Term(5)}}},
      {2, VoteRequest{.kind = VoteKind::Real, .term = Term(huge), .last = at(1, 1)}},
      {2, VoteRequest{.kind = VoteKind::Real, .term = Term(5), .last = at(9, 6)}},
      {2, VoteRequest{.kind = VoteKind{7}, .term = Term(5), .last = at(9, 4)}},
      {2, append(5, at(1, 1), {command(3, 2)})},  // a gap
      {2, append(5, at(1, 1), {command(2, 6)})},  // from the future
      {2, append(5, at(1, 3), {command(2, 2)})},  // a falling term
      {2, append(5, at(1, 1), {command(2, 2), command(2, 2)})},
      {2, append(5, at(1, 1), {tampered})},
      {2, append(5, at(1, 1), {make_entry(Index(2), Term(2), EntryKind::Configuration, "rubbish")})},
      {2, append(5, at(huge, 1), {})},
      {2, append(5, at(0, 3), {})},
      {2, AppendReply{.term = Term(1), .match = Index(1)}},  // we do not lead
      {2, HeartbeatReply{.term = Term(1)}},
      {2, VoteReply{.term = Term(1), .granted = Answer::Yes}},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    Solo solo(3);
    solo.receive(cases[i].first, cases[i].second);
    EXPECT_TRUE(solo.effects.sends.empty()) << i;
    EXPECT_FALSE(solo.effects.write) << i;
    EXPECT_EQ(solo.core().leadership(), (Leadership{Role::Follower, Term(1), ReplicaId()})) << i;
  }
}

TEST(AdmissionTest, ASecondLeaderOfOneTermIsNotBelieved) {
  Solo solo(3);
  solo.receive(2, Heartbeat{.term = Term(5)});
  solo.receive(3, Heartbeat{.term = Term(5)});
  EXPECT_TRUE(solo.effects.sends.empty());
  EXPECT_EQ(solo.core().leadership().leader, ReplicaId(2));
  Solo leader(3);
  leader.lead({2});
  leader.receive(3, leader.append(leader.term().value(), at(1, 1), {}));
  EXPECT_EQ(leader.role(), Role::Leader);
}

TEST(AdmissionTest, AMatchBeyondOurLogIsAbsurd) {
  Solo solo(3);
  solo.lead({2});
  solo.accept(2, 100);
  EXPECT_EQ(solo.core().commit(), Index(1));
  solo.accept(2, 2);
  solo.written();
  EXPECT_EQ(solo.core().commit(), Index(2));
}

// ---- terms

// Covers: FLT_S08
TEST(AdmissionTest, ATermOutOfAllReachIsNotBelievedAndIsTold) {
  const Term far(1 + kTermLeapMax + 1);
  const Message lies[] = {AppendRequest{.term = far, .stream = 1, .previous = at(1, 1)},
                          Heartbeat{.term = far},
                          VoteRequest{.kind = VoteKind::Real, .term = far, .last = at(1, 1)},
                          VoteReply{.kind = VoteKind::Real, .term = far},
                          AppendReply{.term = Term(uint64_t{1} << 62)},
                          HeartbeatReply{.term = far},
                          Removed{far, at(1, 1)}};
  Solo solo(3);
  EXPECT_FALSE(solo.core().status().leap);
  uint64_t count = 0;
  for (const Message& lie : lies) {
    solo.receive(2, lie);
    const Term claimed = std::visit([](const auto& one) { return one.term; }, lie);
    EXPECT_EQ(solo.core().status().leap, (TermLeap{ReplicaId(2), claimed, ++count}));
    EXPECT_TRUE(solo.effects.sends.empty()) << lie.index();
    EXPECT_EQ(solo.core().leadership(), (Leadership{Role::Follower, Term(1), ReplicaId()})) << lie.index();
    EXPECT_FALSE(solo.core().removed());
  }
}

// Covers: FLT_S08
TEST(AdmissionTest, TheFarthestTermWithinReachIsFollowedSoThatNobodyIsLeftBehind) {
  Solo solo(3);
  const uint64_t far = 1 + kTermLeapMax;
  solo.receive(2, AppendRequest{.term = Term(far), .stream = 1, .previous = at(1, 1)});
  EXPECT_EQ(solo.core().leadership(), (Leadership{Role::Follower, Term(far), ReplicaId(2)}));
  EXPECT_FALSE(solo.core().status().leap);
}

// Covers: FLT_S08
TEST(AdmissionTest, ClaimsTogetherRaiseATermByOneLeapInAnElectionTimeout) {
  Solo solo(3);
  const auto claim = [&](uint64_t term) {
    solo.receive(2, AppendRequest{.term = Term(term), .stream = 1, .previous = at(1, 1)});
    return solo.term().value();
  };
  EXPECT_EQ(claim(kTermLeapMax), kTermLeapMax);
  EXPECT_EQ(claim(1 + kTermLeapMax), 1 + kTermLeapMax);
  EXPECT_EQ(claim(2 + kTermLeapMax), 1 + kTermLeapMax) << "together too far";
  EXPECT_EQ(solo.core().status().leap, (TermLeap{ReplicaId(2), Term(2 + kTermLeapMax), 1}));
  solo.now += Options{}.election_timeout;
  EXPECT_EQ(claim(2 + kTermLeapMax), 2 + kTermLeapMax);
}

// Covers: FLT_S08
TEST(AdmissionTest, WhoHearsALeaderDoesNotFollowATermOutOfReach) {
  Solo solo(3);
  for (int i = 0; i < 5; ++i) {
    solo.now += Options{}.election_timeout / 2;
    solo.receive(2, Heartbeat{.term = Term(5)});
    solo.receive(3, AppendRequest{.term = Term(9 * kTermLeapMax), .stream = 1, .previous = at(1, 1)});
    EXPECT_EQ(solo.core().leadership(), (Leadership{Role::Follower, Term(5), ReplicaId(2)}));
  }
}

// Covers: FLT_S08
TEST(AdmissionTest, WhoHasNoLeaderGoesTowardsATermOutOfReachOneLeapPerElectionTimeout) {
  Solo solo(3);
  const auto claim = [&](Message message) {
    solo.receive(2, std::move(message));
    return solo.term().value();
  };
  const Term far(9 * kTermLeapMax);
  solo.now += Options{}.election_timeout;
  EXPECT_EQ(claim(VoteRequest{.kind = VoteKind::Pre, .term = far, .last = at(1, 1)}), 1u) << "a pre-vote raises no term";
  EXPECT_EQ(claim(VoteReply{.kind = VoteKind::Pre, .term = far}), 1 + kTermLeapMax);
  EXPECT_EQ(claim(VoteReply{.kind = VoteKind::Pre, .term = far}), 1 + kTermLeapMax);
  solo.now += Options{}.election_timeout;
  EXPECT_EQ(claim(AppendRequest{.term = far, .stream = 1, .previous = at(1, 1)}), 1 + 2 * kTermLeapMax);
  EXPECT_EQ(solo.core().leadership().leader, ReplicaId()) << "it is no leader of that term";
}

// Covers: FLT_S08
TEST(AdmissionTest, ReplicasThatWereLedAstrayMeetAgain) {
  Cluster cluster(3, {}, 1, 1);
  cluster.elect(3);
  for (uint64_t id = 1; id <= 4; ++id) cluster.isolate(id);
  for (const auto& [id, leaps] : {std::pair{1, 2}, std::pair{2, 4}}) {
    for (int i = 1; i <= leaps; ++i) {
      cluster.advance(id, Options{}.election_timeout);
      const Term claimed(1 + i * kTermLeapMax);
      cluster.step(id, Received{ReplicaId(4), AppendRequest{.term = claimed, .stream = 1, .previous = at(1, 1)}});
      EXPECT_GE(cluster.core(id).leadership().term, claimed);
    }
  }
  cluster.clear_network();
  cluster.heal();
  cluster.run(20 * Options{}.election_timeout);
  ASSERT_NE(cluster.leader(), 0u);
  cluster.propose(cluster.leader(), "x");
  cluster.quiesce();
  EXPECT_TRUE(cluster.converged());
}

// ---- a disk that may have been rolled back

// Covers: FLT_P15
TEST(RollbackCheckedTest, UntilThenTheCoreNeitherVotesNorCampaignsNorAcknowledges) {
  Solo solo(Recovered{.hard_state = {Term(3), ReplicaId()}, .entries = log_of(3, {1, 2}), .rollback_checked = false});
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(solo.timeout().sends.empty());
  const auto silent = [&](Message message) {
    solo.receive(2, std::move(message));
    return solo.effects.sends.empty() && !solo.effects.write && solo.term() == Term(3);
  };
  EXPECT_TRUE(silent(VoteRequest{.kind = VoteKind::Real, .term = Term(5), .round = 1, .last = {Index(9), Term(4)}}));
  EXPECT_TRUE(silent(VoteRequest{.kind = VoteKind::Pre, .term = Term(5), .round = 1, .last = {Index(9), Term(4)}}));
  EXPECT_TRUE(silent(AppendRequest{.term = Term(5), .stream = 1, .previous = {Index(3), Term(2)}}));
  EXPECT_TRUE(silent(Heartbeat{.term = Term(5), .stream = 1}));
  EXPECT_TRUE(silent(TimeoutNow{.term = Term(3)}));
  solo.step(RollbackCheckPassed{});
  solo.receive(2, VoteRequest{.kind = VoteKind::Real, .term = Term(5), .round = 1, .last = {Index(9), Term(4)}});
  EXPECT_EQ(solo.only<VoteReply>(2).granted, Answer::Yes);
}

TEST(RollbackCheckedTest, ItHearsThatItWasRemoved) {
  Solo solo(Recovered{.entries = log_of(3, {1}), .rollback_checked = false});
  solo.receive(2, Removed{Term(2), {Index(9), Term(2)}});
  EXPECT_TRUE(solo.core().removed());
  EXPECT_EQ(solo.term(), Term(1)) << "the disk is to be compared as it is";
}

}  // namespace
}  // namespace coordkit::raft::testing

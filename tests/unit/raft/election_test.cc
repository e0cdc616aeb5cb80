// Votes, terms, timers.
#include <gtest/gtest.h>

#include "coordkit/engine/wire.h"
#include "solo.h"

namespace coordkit::raft::testing {
namespace {

VoteRequest vote_request(VoteKind kind, uint64_t term, Position last) {
  return {.kind = kind, .term = Term(term), .round = 9, .last = last};
}

TEST(ElectionTest, ThreeReplicasElectReplicateAndConfirm) {
  Cluster cluster(3);
  cluster.elect(1);
  EXPECT_EQ(cluster.core(2).leadership(), (Leadership{Role::Follower, Term(2), ReplicaId(1)}));
  cluster.propose(1, "x");
  cluster.quiesce();
  EXPECT_TRUE(cluster.converged());
  EXPECT_EQ(cluster.node(3).states.back().payload.view(), "x");
  cluster.confirm(1);
  EXPECT_TRUE(cluster.node(1).confirmations.empty());
  cluster.quiesce();
  ASSERT_EQ(cluster.node(1).confirmations.size(), 1u);
  EXPECT_EQ(cluster.node(1).confirmations[0].held, Answer::Yes);
  EXPECT_EQ(cluster.node(1).confirmations[0].read_index, Index(3));
}

// Covers: REG_R10
TEST(ElectionTest, PreVoteChangesNeitherTermNorVoteInMemoryOrOnDisk) {
  Solo solo(3, {}, {Term(4), ReplicaId(2)});
  const HardState before = solo.core().status().hard_state;
  solo.receive(3, vote_request(VoteKind::Pre, 9, at(5, 3)));
  EXPECT_EQ(solo.only<VoteReply>(3).granted, Answer::Yes);
  EXPECT_FALSE(solo.effects.write);
  EXPECT_EQ(solo.core().status().hard_state, before);
  solo.timeout();  // nor does asking for one
  EXPECT_EQ(solo.role(), Role::PreCandidate);
  EXPECT_FALSE(solo.effects.write);
  EXPECT_EQ(solo.core().status().hard_state, before);
}

// Covers: REG_R11
TEST(ElectionTest, AnswerCountsOnlyForItsKindTermAndRound) {
  Solo solo(3);
  solo.timeout();
  const uint64_t pre_round = solo.only<VoteRequest>(2).round;
  const VoteReply pre{VoteKind::Pre, Term(1), pre_round, Answer::Yes};
  solo.receive(2, pre);
  ASSERT_EQ(solo.role(), Role::Candidate);
  const uint64_t round = solo.only<VoteRequest>(2).round;
  solo.written();
  solo.receive(3, pre);                                                    // late
  solo.receive(3, VoteReply{VoteKind::Pre, Term(2), round, Answer::Yes});  // of the other kind
  solo.receive(3, VoteReply{VoteKind::Real, Term(1), round, Answer::Yes});
  solo.receive(3, VoteReply{VoteKind::Real, Term(2), pre_round, Answer::Yes});
  solo.receive(3, VoteReply{VoteKind::Real, Term(2), round, Answer::No});
  EXPECT_EQ(solo.role(), Role::Candidate);
  solo.receive(3, VoteReply{VoteKind::Real, Term(2), round, Answer::Yes});
  EXPECT_EQ(solo.role(), Role::Leader);
}

// Covers: REG_R12
TEST(ElectionTest, RepeatedAnswersOfOneVoterAreOneVote) {
  Solo solo(5);
  solo.timeout();
  const uint64_t round = solo.only<VoteRequest>(2).round;
  for (int i = 0; i < 5; ++i) solo.receive(2, VoteReply{VoteKind::Pre, Term(1), round, Answer::Yes});
  EXPECT_EQ(solo.role(), Role::PreCandidate);
  solo.receive(3, VoteReply{VoteKind::Pre, Term(1), round, Answer::Yes});
  EXPECT_EQ(solo.role(), Role::Candidate);
}

// Covers: REG_R13
TEST(ElectionTest, NoRequestLeavesAndNobodyLeadsBeforeTheOwnVoteIsDurable) {
  Solo solo(3);
  solo.timeout();
  const uint64_t pre_round = solo.only<VoteRequest>(2).round;
  solo.receive(2, VoteReply{VoteKind::Pre, Term(1), pre_round, Answer::Yes});
  ASSERT_TRUE(solo.effects.write);
  EXPECT_EQ(solo.effects.write->hard_state, (HardState{Term(2), ReplicaId(1)}));
  for (const Send& send : solo.effects.sends) EXPECT_EQ(send.after, solo.effects.write->number);
  const uint64_t round = solo.only<VoteRequest>(2).round;
  solo.receive(2, VoteReply{VoteKind::Real, Term(2), round, Answer::Yes});
  solo.receive(3, VoteReply{VoteKind::Real, Term(2), round, Answer::Yes});
  EXPECT_EQ(solo.role(), Role::Candidate);
  solo.written();
  EXPECT_EQ(solo.role(), Role::Leader);
}

// Covers: REG_R13
TEST(ElectionTest, AfterACrashTheCandidateKnowsItsVote) {
  Cluster cluster(3);
  cluster.step(1, Tick{});
  cluster.advance(1, cluster.core(1).next_deadline() - cluster.node(1).now);
  cluster.deliver_round();
  cluster.deliver_round();
  cluster.written(1);
  ASSERT_FALSE(cluster.network().empty());
  cluster.restart(1);
  EXPECT_EQ(cluster.core(1).status().hard_state, (HardState{Term(2), ReplicaId(1)}));
  cluster.step(1, Received{ReplicaId(2), vote_request(VoteKind::Real, 2, at(9, 1))});
  EXPECT_EQ(cluster.core(1).status().hard_state.vote, ReplicaId(1));
}

// Covers: REG_R15
TEST(ElectionTest, LaterLastTermWinsThenLongerLog) {
  struct Case {
    Position candidate = {};
    Answer granted = Answer::No;
  };
  const Case cases[] = {{at(3, 3), Answer::No}, {at(4, 3), Answer::Yes}, {at(5, 3), Answer::Yes}, {at(9, 2), Answer::No},
                        {at(1, 1), Answer::No}, {at(2, 4), Answer::Yes}, {at(4, 4), Answer::Yes}, {at(4, 2), Answer::No}};
  for (const VoteKind kind : {VoteKind::Pre, VoteKind::Real}) {
    for (const Case& c : cases) {
      Solo solo(3, {2, 3, 3});  // last 4@3
      solo.receive(2, vote_request(kind, 7, c.candidate));
      EXPECT_EQ(solo.only<VoteReply>(2).granted, c.granted) << c.candidate.index.value() << "@" << c.candidate.term.value();
    }
  }
}

// Covers: REG_R17
TEST(ElectionTest, VoteLeavesAfterTheWriteThatStoresItAlsoWhenRepeated) {
  Solo solo(3);
  solo.receive(2, vote_request(VoteKind::Real, 3, at(1, 1)));
  ASSERT_TRUE(solo.effects.write);
  EXPECT_EQ(solo.effects.write->hard_state, (HardState{Term(3), ReplicaId(2)}));
  EXPECT_EQ(solo.effects.sends.at(0).after, solo.effects.write->number);
  solo.receive(2, vote_request(VoteKind::Real, 3, at(1, 1)));
  EXPECT_FALSE(solo.effects.write);
  EXPECT_EQ(solo.effects.sends.at(0).after, WriteNumber(1));
  solo.written();
  solo.receive(2, vote_request(VoteKind::Real, 3, at(1, 1)));
  EXPECT_EQ(solo.effects.sends.at(0).after, WriteNumber());
  solo.receive(3, vote_request(VoteKind::Real, 3, at(9, 2)));
  EXPECT_EQ(solo.only<VoteReply>(3).granted, Answer::No);
}

// Covers: REG_R17
TEST(ElectionTest, AVoteInATermThatIsDurableAlreadyWaitsForItsOwnWrite) {
  Solo solo(3);
  solo.receive(2, HeartbeatReply{.term = Term(3)});
  ASSERT_TRUE(solo.effects.write);
  solo.written();
  solo.receive(2, vote_request(VoteKind::Real, 3, at(1, 1)));
  ASSERT_TRUE(solo.effects.write);
  EXPECT_EQ(solo.only<VoteReply>(2).granted, Answer::Yes);
  EXPECT_EQ(solo.effects.sends.at(0).after, solo.effects.write->number);
}

// Covers: REG_R16
TEST(ElectionTest, ALaterTermEndsTheReignBeforeAnythingIsAppended) {
  Solo solo(3);
  solo.lead({2});
  const Index last = solo.last();
  solo.core().step(Received{ReplicaId(3), HeartbeatReply{.term = Term(8)}}, solo.now);
  solo.propose("x");
  EXPECT_EQ(solo.effects.outcomes.at(0).kind, ProposalOutcome::Kind::NotLeader);
  EXPECT_EQ(solo.last(), last);
  EXPECT_EQ(solo.core().leadership(), (Leadership{Role::Follower, Term(8), ReplicaId()}));
  EXPECT_TRUE(solo.sent<AppendRequest>(2).empty());
}

// Covers: REG_R48
TEST(ElectionTest, AnswersOfALaterTermAreAdopted) {
  for (const Message& answer : std::initializer_list<Message>{VoteReply{VoteKind::Pre, Term(7), 0, Answer::No},
                                                              VoteReply{VoteKind::Real, Term(7), 0, Answer::No},
                                                              AppendReply{.term = Term(7)}, HeartbeatReply{.term = Term(7)}}) {
    Solo solo(3);
    solo.timeout();
    solo.receive(2, answer);
    EXPECT_EQ(solo.core().leadership(), (Leadership{Role::Follower, Term(7), ReplicaId()}));
    solo.written();
    solo.timeout();
    EXPECT_EQ(solo.only<VoteRequest>(2).term, Term(8));
  }
}

// Covers: REG_R48
TEST(ElectionTest, WhoeverIsBehindInTermsLearnsThemAndALeaderEmerges) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.crash(1);
  cluster.node(2).disk.hard_state = {Term(40), ReplicaId()};  // wasted terms only, as old versions did
  cluster.restart(2);
  cluster.run(10 * cluster.node(2).options.election_timeout);
  EXPECT_NE(cluster.leader(), 0u);
}

// Covers: REG_R51
TEST(ElectionTest, OnlyALawfulLeaderOrAGrantedVoteRestartsTheTimer) {
  Solo solo(3);
  const LaggingTime deadline = solo.core().next_deadline();
  solo.now += milliseconds(100);
  solo.receive(2, vote_request(VoteKind::Pre, 5, at(1, 1)));
  EXPECT_EQ(solo.only<VoteReply>(2).granted, Answer::Yes);
  EXPECT_EQ(solo.core().next_deadline(), deadline);
  solo.receive(2, vote_request(VoteKind::Real, 5, at(0, 0)));  // refused, though of a later term
  EXPECT_EQ(solo.core().next_deadline(), deadline);
  solo.receive(2, Heartbeat{.term = Term(4)});  // of an old term
  EXPECT_EQ(solo.core().next_deadline(), deadline);
  solo.receive(2, vote_request(VoteKind::Real, 5, at(1, 1)));
  EXPECT_GE(solo.core().next_deadline(), solo.now + milliseconds(300));
  solo.now += milliseconds(100);
  solo.receive(2, Heartbeat{.term = Term(5)});
  EXPECT_GE(solo.core().next_deadline(), solo.now + milliseconds(300));
}

// To the moment at which letters of a campaign are repeated.
void repeats(Solo& solo) {
  const LaggingTime next = solo.core().next_deadline();
  EXPECT_LE(next - solo.now, 2 * milliseconds(60));
  solo.now = next;
  solo.step(Tick{});
}

// A question, or its answer, may have been lost.
// Covers: FLT_N01
TEST(ElectionTest, WhoHasNotAnsweredIsAskedAgainInTheSameRoundAndTerm) {
  Solo solo(3);
  solo.timeout();
  for (const VoteKind kind : {VoteKind::Pre, VoteKind::Real}) {
    const VoteRequest asked = solo.only<VoteRequest>(2);
    if (kind == VoteKind::Real) solo.written();
    repeats(solo);
    const VoteRequest again = solo.only<VoteRequest>(2);
    EXPECT_EQ(again.kind, kind);
    EXPECT_EQ(again, asked) << "not the letter that the network could have repeated";
    EXPECT_EQ(solo.only<VoteRequest>(3), again);
    solo.receive(3, VoteReply{kind, solo.term(), again.round, Answer::No});
    repeats(solo);
    EXPECT_EQ(solo.only<VoteRequest>(2), again);
    EXPECT_TRUE(solo.sent<VoteRequest>(3).empty()) << "it has answered";
    solo.receive(2, VoteReply{kind, solo.term(), again.round, Answer::Yes});
  }
  EXPECT_EQ(solo.role(), Role::Leader);
  EXPECT_EQ(solo.term(), Term(2)) << "one term, whatever was lost";
}

// Covers: FLT_N01
TEST(ElectionTest, NothingIsRepeatedBeforeTheFirstLetterCouldLeave) {
  Solo solo(3);
  solo.timeout();
  solo.receive(2, VoteReply{VoteKind::Pre, Term(1), solo.only<VoteRequest>(2).round, Answer::Yes});
  ASSERT_EQ(solo.role(), Role::Candidate);
  const VoteRequest asked = solo.only<VoteRequest>(3);
  solo.now += milliseconds(200);
  solo.step(Tick{});
  EXPECT_TRUE(solo.effects.sends.empty()) << "its own vote is not durable";
  solo.written();
  EXPECT_EQ(solo.only<VoteRequest>(3), asked);
  EXPECT_EQ(solo.effects.sends.at(0).after, WriteNumber());
}

// Covers: FLT_N01 REG_R51
TEST(ElectionTest, AVoteThatIsAskedForAgainIsGivenAgainAndRestartsNoTimer) {
  Solo solo(3);
  solo.receive(2, vote_request(VoteKind::Real, 3, at(1, 1)));
  solo.written();
  const LaggingTime deadline = solo.core().next_deadline();
  solo.now += milliseconds(100);
  solo.receive(2, vote_request(VoteKind::Real, 3, at(1, 1)));
  EXPECT_EQ(solo.only<VoteReply>(2).granted, Answer::Yes);
  EXPECT_EQ(solo.core().next_deadline(), deadline);
}

// The votes of a campaign are lost on the way there, or on the way back.
// Covers: FLT_N01
TEST(ElectionTest, LostVotesCostNoTerm) {
  for (const bool answers : {false, true}) {
    Cluster cluster(3);
    cluster.step(1, Tick{});
    cluster.advance(1, cluster.core(1).next_deadline() - cluster.node(1).now);
    for (int pre_votes = 0; pre_votes < 2; ++pre_votes) cluster.deliver_round();
    cluster.written(1);
    if (answers) cluster.deliver_round(), cluster.written_all(2), cluster.written_all(3);
    cluster.clear_network();
    cluster.advance(1, cluster.core(1).next_deadline() - cluster.node(1).now);
    cluster.quiesce();
    EXPECT_EQ(cluster.leader(), 1u);
    EXPECT_EQ(cluster.core(1).leadership().term, Term(2));
  }
}

// Covers: REG_R52
TEST(ElectionTest, ALeaderThatLostItsQuorumCanBeElectedAtOnce) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.isolate(1);
  cluster.advance(1, milliseconds(300));
  EXPECT_EQ(cluster.core(1).leadership().role, Role::Follower);
  cluster.heal();
  cluster.clear_network();
  for (uint64_t id : {2, 3}) {
    cluster.node(id).now += milliseconds(299);
    cluster.step(id, Received{ReplicaId(1), vote_request(VoteKind::Pre, 3, at(2, 2))});
  }
  EXPECT_TRUE(std::none_of(cluster.network().begin(), cluster.network().end(), [](const Flight& f) {
    const auto* reply = std::get_if<VoteReply>(&f.message);
    return reply && reply->granted == Answer::Yes;
  })) << "they heard a leader less than an election timeout ago";
  cluster.clear_network();
  for (uint64_t id : {2, 3}) cluster.node(id).now += milliseconds(1);
  cluster.step(1, Received{ReplicaId(2), vote_request(VoteKind::Pre, 3, at(2, 2))});
  ASSERT_FALSE(cluster.network().empty());
  EXPECT_EQ(std::get<VoteReply>(cluster.network().back().message).granted, Answer::Yes) << "the former leader blocks no one";
  cluster.clear_network();
  cluster.advance(1, cluster.core(1).next_deadline() - cluster.node(1).now);
  cluster.quiesce();
  EXPECT_EQ(cluster.leader(), 1u);
  EXPECT_EQ(cluster.core(1).leadership().term, Term(3));
}

TEST(ElectionTest, WhoeverHearsALeaderNeitherVotesNorAdoptsATerm) {
  Solo solo(3);
  solo.receive(2, Heartbeat{.term = Term(2)});
  for (const VoteKind kind : {VoteKind::Pre, VoteKind::Real}) {
    solo.receive(3, vote_request(kind, 9, at(9, 1)));
    EXPECT_EQ(solo.only<VoteReply>(3).granted, Answer::No);
    EXPECT_EQ(solo.term(), Term(2));
  }
  solo.now += milliseconds(300);
  solo.receive(3, vote_request(VoteKind::Real, 9, at(9, 1)));
  EXPECT_EQ(solo.only<VoteReply>(3).granted, Answer::Yes);
}

// Covers: REG_R66
TEST(ElectionTest, ALeaderStopsNoLaterThanAnElectionTimeoutAfterTheLastAnsweredHeartbeatWasSent) {
  Solo solo(3);
  solo.lead({2});
  solo.heartbeat_interval();
  const Heartbeat heartbeat = solo.only<Heartbeat>(2);
  const LaggingTime sent = solo.now;
  solo.now += milliseconds(200);  // the answer is slow
  solo.receive(2, HeartbeatReply{.term = solo.term(), .stream = heartbeat.stream, .round = heartbeat.round});
  ASSERT_EQ(solo.role(), Role::Leader);
  EXPECT_LE(solo.core().status().quorum_contact, sent);
  solo.now = sent + milliseconds(300);
  // Asleep until then: even mail that would renew the contact arrives too late.
  solo.receive(2, HeartbeatReply{.term = solo.term(), .stream = heartbeat.stream, .round = heartbeat.round});
  EXPECT_EQ(solo.role(), Role::Follower);
}

// Covers: REG_R09
TEST(ElectionTest, TwoReplicasCutApartCommitNothing) {
  Cluster cluster(2);
  cluster.elect(1);
  const Index commit = cluster.core(1).commit();
  cluster.isolate(1);
  cluster.propose(1, "a");
  for (int i = 0; i < 20; ++i) cluster.run(milliseconds(100));
  cluster.propose(2, "b");
  EXPECT_EQ(cluster.leader(), 0u);
  EXPECT_EQ(cluster.core(1).commit(), commit);
  EXPECT_EQ(cluster.core(2).commit(), commit);
  EXPECT_EQ(cluster.core(2).leadership().term, Term(2)) << "terms do not grow in vain";
}

TEST(ElectionTest, ABlankReplicaNeitherVotesNorCampaigns) {
  Solo solo(Recovered{});
  EXPECT_EQ(solo.core().next_deadline(), LaggingTime::max());
  solo.now += std::chrono::hours(1);
  solo.step(Tick{});
  solo.receive(2, vote_request(VoteKind::Real, 5, at(9, 4)));
  solo.receive(2, Heartbeat{.term = Term(5)});
  EXPECT_TRUE(solo.effects.sends.empty());
  EXPECT_FALSE(solo.effects.write);
  EXPECT_EQ(solo.role(), Role::Follower);
}

TEST(ElectionTest, AReplicaWhoseDiskIsStalledBurnsNoTerms) {
  Solo solo(3);
  solo.timeout();
  solo.receive(2, VoteReply{VoteKind::Pre, Term(1), solo.only<VoteRequest>(2).round, Answer::Yes});
  ASSERT_EQ(solo.role(), Role::Candidate);
  for (int i = 0; i < 10; ++i) solo.timeout();
  EXPECT_EQ(solo.term(), Term(2));
}

TEST(ElectionTest, ASoleVoterLeadsOnceItsVoteIsDurable) {
  Solo solo(1);
  solo.timeout();
  EXPECT_EQ(solo.role(), Role::Candidate);
  solo.written();
  EXPECT_EQ(solo.role(), Role::Leader);
  EXPECT_EQ(solo.core().commit(), Index(1));
  solo.written();
  EXPECT_EQ(solo.core().commit(), Index(2));
}

TEST(ElectionTest, EqualSeedsGiveEqualEffectsOtherSeedsOtherTimeouts) {
  std::set<Duration> deadlines;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Options options{.seed = seed};
    Solo one(3, {}, {}, options), two(3, {}, {}, options);
    EXPECT_EQ(one.core().next_deadline(), two.core().next_deadline());
    one.timeout(), two.timeout();
    EXPECT_EQ(one.effects.sends, two.effects.sends);
    deadlines.insert(one.core().next_deadline().time_since_epoch());
  }
  EXPECT_GT(deadlines.size(), 15u);
}

TEST(OptionsTest, ValidateSaysWhatToChange) {
  Options options{.self = ReplicaId(1)};
  EXPECT_TRUE(options.validate().ok());
  options.heartbeat_interval = options.election_timeout / 2;
  EXPECT_EQ(options.validate().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE((Options{}).validate().ok());
  EXPECT_FALSE((Options{.self = ReplicaId(1), .append_messages_in_flight = 0}).validate().ok());
}

// An append with more would not be read by its receiver, nor written at all.
TEST(OptionsTest, NoAppendHasMoreEntriesThanAMessageMayHave) {
  EXPECT_LE(kAppendBytesMax / Entry().bytes(), kEntriesMax);
  EXPECT_TRUE((Options{.self = ReplicaId(1), .append_bytes_max = kAppendBytesMax}).validate().ok());
  EXPECT_FALSE((Options{.self = ReplicaId(1), .append_bytes_max = kAppendBytesMax + 1}).validate().ok());
  EXPECT_FALSE((Options{.self = ReplicaId(1), .append_bytes_max = 0}).validate().ok());
}

TEST(OptionsTest, ADelayThatOverflowsTimeIsRefused) {
  for (Duration Options::*const delay : {&Options::commit_news_delay, &Options::append_delay}) {
    Options options{.self = ReplicaId(1)};
    options.*delay = std::chrono::hours(1);
    EXPECT_TRUE(options.validate().ok()) << options.validate();
    options.*delay = Duration::max();
    EXPECT_EQ(options.validate().code(), absl::StatusCode::kInvalidArgument);
    options.*delay = Duration(-1);
    EXPECT_EQ(options.validate().code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace coordkit::raft::testing

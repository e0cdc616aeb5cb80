// The leader's half: the commit rule, streams and windows, what is lost and recovered.
#include <gtest/gtest.h>

#include <deque>

#include "base/check.h"
#include "solo.h"

namespace coordkit::raft::testing {
namespace {

// Covers: REG_R01
TEST(LeaderTest, EntriesOfEarlierTermsCommitOnlyWithOneOfTheOwn) {
  Solo solo(5, {2, 2, 2}, {}, {.append_bytes_max = 60});  // catch-up in single entries
  solo.lead({2, 3});
  solo.written();
  for (const uint64_t match : {2, 3, 4}) {
    for (const uint64_t peer : {2, 3, 4}) solo.accept(peer, match);
    EXPECT_EQ(solo.core().commit(), Index(1)) << match;
  }
  solo.accept(2, 5);
  EXPECT_EQ(solo.core().commit(), Index(1));
  solo.accept(3, 5);
  EXPECT_EQ(solo.core().commit(), Index(5));
}

TEST(LeaderTest, FollowersAloneMayCommitAndTheOwnMatchCountsOnlyWhatIsDurable) {
  Solo solo(3);
  solo.lead({2});
  solo.accept(2, 2);
  EXPECT_EQ(solo.core().commit(), Index(1));
  solo.accept(3, 2);
  EXPECT_EQ(solo.core().commit(), Index(2));
  EXPECT_EQ(solo.core().durable(), Index(1));
}

// Covers: FLT_N01
TEST(LeaderTest, HeartbeatsComeTwiceAsOftenWhileNoQuorumAnswers) {
  Solo solo(3);
  solo.lead({2});
  const auto interval = [&] { return solo.core().next_deadline() - solo.now; };
  const auto answered = [&](uint64_t peer) {
    solo.receive(peer,
                 HeartbeatReply{.term = solo.term(), .stream = solo.streams[peer], .round = solo.only<Heartbeat>(peer).round});
  };
  for (int i = 0; i < 5; ++i) {
    solo.timeout();
    EXPECT_EQ(interval(), milliseconds(60)) << i;
    answered(2);  // replica 3 never answers: a quorum does
  }
  solo.timeout();
  EXPECT_EQ(interval(), milliseconds(60)) << "one answer may be on its way";
  solo.timeout();
  EXPECT_EQ(interval(), milliseconds(60)) << "two answers are missing";
  solo.timeout();
  EXPECT_EQ(interval(), milliseconds(30));
  solo.timeout();
  EXPECT_EQ(solo.sent<Heartbeat>(3).size(), 1u) << "to everybody";
  answered(3);
  solo.timeout();
  EXPECT_EQ(interval(), milliseconds(60));
}

// Covers: REG_R03
TEST(LeaderTest, AnAckOfAnOlderStreamCountsForNothing) {
  Solo solo(3);
  solo.lead({2});
  solo.written();
  const auto old = solo.streams;
  solo.step(PeerUp{ReplicaId(2), BootCounter(2)});
  EXPECT_NE(solo.only<AppendRequest>(2).stream, old.at(2));
  solo.accept(2, 2);
  EXPECT_EQ(solo.core().commit(), Index(1));
  solo.receive(2, HeartbeatReply{.term = solo.term(), .stream = old.at(2), .match = Index(2), .round = 1});
  EXPECT_EQ(solo.core().commit(), Index(1));
}

// Covers: REG_R03
TEST(LeaderTest, AReconnectedPeerStartsFromMatchZero) {
  Solo solo(3);
  solo.lead({2});
  solo.accept(2, 2);
  ASSERT_EQ(solo.core().status().peers.at(0).match, Index(2));
  solo.step(PeerUp{ReplicaId(2), BootCounter(2)});
  EXPECT_EQ(solo.core().status().peers.at(0).match, Index(0));
  solo.written();
  EXPECT_EQ(solo.core().commit(), Index(1));
}

// Covers: REG_R24
TEST(LeaderTest, CommitSentIsAtMostWhatThePeerIsKnownToHave) {
  Solo solo(3);
  solo.lead({2});
  solo.written();
  solo.accept(2, 2);
  ASSERT_EQ(solo.core().commit(), Index(2));
  solo.heartbeat_interval();
  EXPECT_EQ(solo.only<Heartbeat>(2).commit, Index(2));
  EXPECT_EQ(solo.only<Heartbeat>(3).commit, Index(0));
}

TEST(LeaderTest, NewsOfACommitGoesOutAtOnceAndOncePerTurn) {
  Solo solo(3);
  solo.lead({2});
  solo.accept(2, 2);
  solo.accept(3, 2);
  EXPECT_EQ(solo.only<Heartbeat>(2).commit, Index(2));
  EXPECT_EQ(solo.only<Heartbeat>(3).commit, Index(2));
  solo.propose("a");
  EXPECT_TRUE(solo.sent<Heartbeat>(2).empty());
  EXPECT_EQ(solo.only<AppendRequest>(2).commit, Index(2));
  // The same turn commits and proposes: the append carries the commit index.
  solo.core().step(Received{ReplicaId(2), AppendReply{.term = solo.term(), .stream = solo.streams[2], .match = Index(3)}},
                   solo.now);
  solo.core().step(Written{solo.last_write}, solo.now);
  solo.propose("b");
  EXPECT_EQ(solo.core().commit(), Index(3));
  EXPECT_TRUE(solo.sent<Heartbeat>(2).empty());
  EXPECT_EQ(solo.only<AppendRequest>(2).commit, Index(3));
}

TEST(LeaderTest, WithADelayTheNextAppendCarriesTheNewsAndOnlyWhoWaitsIsToldAtOnce) {
  Solo solo(3, {}, {}, {.commit_news_delay = milliseconds(1)});
  solo.lead({2});
  solo.accept(2, 2);
  solo.accept(3, 2);
  ASSERT_EQ(solo.core().commit(), Index(2));
  EXPECT_TRUE(solo.sent<Heartbeat>(2).empty());
  solo.propose("a");
  EXPECT_EQ(solo.only<AppendRequest>(2).commit, Index(2));
  EXPECT_TRUE(solo.sent<Heartbeat>(2).empty());

  solo.accept(2, 3);
  solo.accept(3, 3);
  ASSERT_EQ(solo.core().commit(), Index(3));
  solo.step(SendCommit{ReplicaId(2)});
  EXPECT_EQ(solo.only<Heartbeat>(2).commit, Index(3));
  EXPECT_TRUE(solo.sent<Heartbeat>(3).empty());
  EXPECT_EQ(solo.core().next_deadline(), solo.now + milliseconds(1)) << "the other one is informed then";
  solo.now += milliseconds(1);
  solo.step(Tick{});
  EXPECT_TRUE(solo.sent<Heartbeat>(2).empty()) << "it knows";
  EXPECT_EQ(solo.only<Heartbeat>(3).commit, Index(3));
  EXPECT_GT(solo.core().next_deadline(), solo.now + milliseconds(1));
}

TEST(LeaderTest, APeerThatWaitsForACommitGetsAHeartbeatOnceItsMatchIsKnown) {
  Solo solo(3, {}, {}, {.commit_news_delay = milliseconds(1)});
  solo.lead({2});
  solo.written();
  solo.accept(2, 2);  // committed by the two of us; the log of 3 is unknown
  ASSERT_EQ(solo.core().commit(), Index(2));
  solo.step(SendCommit{ReplicaId(3)});
  EXPECT_TRUE(solo.sent<Heartbeat>(3).empty());
  solo.accept(3, 2);
  EXPECT_EQ(solo.only<Heartbeat>(3).commit, Index(2));
}

TEST(LeaderTest, AppendsAreParallelWithTheOwnDisk) {
  Solo solo(3);
  solo.lead({2});
  solo.accept(2, 2);
  solo.propose("a");
  ASSERT_TRUE(solo.effects.write);
  for (const Send& send : solo.effects.sends) EXPECT_EQ(send.after, WriteNumber());
}

TEST(LeaderTest, StreamsArePipelinedWithinTheirWindow) {
  Solo solo(2, {}, {}, {.append_messages_in_flight = 3, .append_bytes_in_flight = 150});
  solo.lead({2});
  solo.accept(2, 2);
  solo.propose("a");  // 49 bytes each
  solo.propose("b");
  EXPECT_EQ(solo.sent<AppendRequest>(2).size(), 1u);
  solo.propose("c");
  EXPECT_EQ(solo.sent<AppendRequest>(2).size(), 1u);
  solo.propose("d");
  EXPECT_TRUE(solo.sent<AppendRequest>(2).empty()) << "three messages are under way";
  solo.accept(2, 4);
  EXPECT_EQ(solo.only<AppendRequest>(2).entries.at(0).payload.view(), "d");
}

TEST(LeaderTest, ALeaderFarAheadOfItsDiskTakesNoProposals) {
  Solo solo(3, {}, {}, {.unsynced_bytes_max = 250});
  solo.lead({2});
  solo.propose(std::string(200, 'x'));
  EXPECT_EQ(solo.effects.outcomes.at(0).kind, ProposalOutcome::Kind::Appended);
  solo.propose("y");
  EXPECT_EQ(solo.effects.outcomes.at(0).kind, ProposalOutcome::Kind::NoRoom);
  solo.written();
  solo.propose(std::string(1000, 'x'));
  EXPECT_EQ(solo.effects.outcomes.at(0).kind, ProposalOutcome::Kind::Appended) << "one always fits";
}

// Covers: REG_R28
TEST(LeaderTest, LongDivergenceSettlesInOneRoundPerTerm) {
  constexpr uint64_t kLong = 100000, kTerms = 20;
  Cluster cluster(3);
  for (uint64_t id : {1, 2, 3}) {  // 1 wrote in even terms, 2 and 3 in odd ones; all of it uncommitted
    Node& node = cluster.node(id);
    cluster.crash(id);
    for (uint64_t index = 2; index <= kLong; ++index) {
      const uint64_t term = 2 + 2 * (index * kTerms / kLong / 2) + (id == 1 ? 0 : 1);
      node.disk.apply({.entries = {command(index, term, "")}});
    }
    node.disk.hard_state = {Term(2 + 2 * kTerms), {}};
  }
  for (uint64_t id : {1, 2, 3}) cluster.start(id);
  size_t conflicts = 0;
  cluster.on_delivery = [&](const Flight& flight) {
    const auto* reply = std::get_if<AppendReply>(&flight.message);
    conflicts += reply && reply->verdict == AppendVerdict::Conflict;
  };
  cluster.elect(2);
  // A round for each entry would take minutes: one too many is enough to know.
  for (int step = 0; step < 1000 && conflicts <= 2 * kTerms; ++step) cluster.run(milliseconds(1));
  EXPECT_GE(conflicts, 2u);
  ASSERT_LE(conflicts, 2 * kTerms);
  EXPECT_TRUE(cluster.converged());
}

// Covers: REG_R56
TEST(LeaderTest, LostLastAppendOrAckIsMadeUpForWithinTwoHeartbeats) {
  for (const bool lose_append : {true, false}) {
    Cluster cluster(3);
    cluster.elect(1);
    cluster.propose(1, "last");
    if (!lose_append) {
      cluster.deliver_round();
      for (uint64_t id : {2, 3}) cluster.written_all(id);
    }
    cluster.clear_network();
    for (int beat = 0; beat < 2; ++beat) {
      cluster.advance_all(cluster.node(1).options.heartbeat_interval);
      cluster.quiesce();
    }
    for (auto& [id, node] : cluster.nodes()) EXPECT_EQ(node.applied, Index(3)) << id;
  }
}

// Covers: REG_R56
TEST(LeaderTest, AStalledFollowerDiskCostsEmptyProbesOnlyNotTheWindowAgain) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.node(3).disk_stalled = true;
  for (int i = 0; i < 20; ++i) cluster.propose(1, std::string(1000, 'x'));
  cluster.quiesce();
  size_t resent = 0;
  cluster.on_delivery = [&](const Flight& flight) {
    const auto* request = std::get_if<AppendRequest>(&flight.message);
    if (request && flight.to == ReplicaId(3)) resent += request->entries.size();
  };
  cluster.run(milliseconds(5000));
  EXPECT_EQ(resent, 0u);
  EXPECT_EQ(cluster.leader(), 1u) << "REG_R57: a stalled disk starts no election";
  EXPECT_EQ(cluster.core(1).leadership().term, Term(2));
  cluster.node(3).disk_stalled = false;
  cluster.run(milliseconds(200));
  EXPECT_EQ(cluster.core(1).status().peers.at(1).match, cluster.node(1).memory.last().index);
}

// It answers heartbeats at once, and the probe only when its disk has stored it.
// Covers: REG_R56
TEST(LeaderTest, AProbedPeerWithASlowDiskIsNotSentTheProbeAgainWithEachHeartbeat) {
  Solo solo(3, {2, 2, 2, 2});
  solo.lead({2});
  size_t sent_again = 0;
  size_t probes = 0;
  const auto count = [&] {
    for (const AppendRequest& append : solo.sent<AppendRequest>(3)) {
      sent_again += append.entries.size();
      ++probes;
    }
  };
  for (int beat = 0; beat < 20; ++beat) {
    solo.heartbeat_interval();
    count();
    const uint64_t round = solo.only<Heartbeat>(3).round;
    for (const uint64_t peer : {2, 3}) {
      solo.receive(peer, HeartbeatReply{.term = solo.term(), .stream = solo.streams[peer], .round = round});
      count();
    }
  }
  EXPECT_EQ(solo.role(), Role::Leader);
  EXPECT_EQ(sent_again, 0u) << "the probe is on its way";
  EXPECT_EQ(probes, 20u) << "empty ones, in case it was lost";
}

// Covers: INV_R05
TEST(LeaderTest, ALeaderNeverTruncates) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.propose(1, "x");
  cluster.step(1, Received{ReplicaId(2), AppendRequest{.term = Term(2), .previous = at(1, 1), .entries = {command(2, 2)}}});
  EXPECT_FALSE(cluster.node(1).effects.write);
  EXPECT_EQ(cluster.node(1).memory.last(), at(3, 2));
}

// Covers: REG_R34 FLT_M05
TEST(LeaderTest, AConfigurationIsRolledBackWithItsEntry) {
  Solo solo(3);
  const std::string five = encode(genesis_of(5).configuration);
  solo.receive(2, solo.append(2, at(1, 1), {make_entry(Index(2), Term(2), EntryKind::Configuration, five)}));
  EXPECT_EQ(solo.core().status().configuration.voters.size(), 5u);
  solo.receive(3, solo.append(3, at(1, 1), {command(2, 3)}));
  EXPECT_EQ(solo.core().status().configuration.voters.size(), 3u);
}

// Each heartbeat is answered, but four heartbeats later: on a loaded machine a peer is slow, not gone.
// Covers: FLT_O07 REG_R57
TEST(ContactTest, AnswersThatTakeTwoThirdsOfATimeoutKeepALeaderInOffice) {
  Solo solo(3);
  solo.lead({2, 3});
  solo.written();
  solo.accept(2, 2);
  std::deque<uint64_t> rounds;
  for (int i = 0; i < 100; ++i) {
    solo.heartbeat_interval();
    ASSERT_EQ(solo.role(), Role::Leader) << i;
    rounds.push_back(solo.only<Heartbeat>(2).round);
    if (rounds.size() <= 3) continue;
    solo.receive(2, HeartbeatReply{.term = solo.term(), .stream = solo.streams[2], .round = rounds.front()});
    rounds.pop_front();
  }
}

// Covers: REG_R66
TEST(ContactTest, AnswersOfATimeoutAgoDoNot) {
  Solo solo(3);
  solo.lead({2, 3});
  solo.written();
  std::deque<uint64_t> rounds;
  for (int i = 0; i < 100 && solo.role() == Role::Leader; ++i) {
    ASSERT_LT(i, 99);
    solo.heartbeat_interval();
    if (solo.role() != Role::Leader) break;
    rounds.push_back(solo.only<Heartbeat>(2).round);
    if (rounds.size() <= 6) continue;
    solo.receive(2, HeartbeatReply{.term = solo.term(), .stream = solo.streams[2], .round = rounds.front()});
    rounds.pop_front();
  }
}

}  // namespace
}  // namespace coordkit::raft::testing

// Confirmation rounds, entries read back, compaction.
#include <gtest/gtest.h>

#include "solo.h"

namespace coordkit::raft::testing {
namespace {

HeartbeatReply answer(Solo& solo, uint64_t from, uint64_t round, uint64_t match = 0) {
  return {.term = solo.term(), .stream = solo.streams[from], .match = Index(match), .round = round};
}

// ---- confirmation

// Covers: REG_R62
TEST(ConfirmationTest, AQuestionIsAnsweredOnlyByAQuorumOfARoundBegunAfterIt) {
  Solo solo(5);
  solo.lead({2, 3});
  solo.written();
  solo.accept(2, 2);
  solo.accept(3, 2);
  solo.heartbeat_interval();
  const uint64_t before = solo.only<Heartbeat>(2).round;
  solo.step(Confirm{Ticket(7)});
  const uint64_t round = solo.only<Heartbeat>(2).round;
  ASSERT_GT(round, before);
  for (uint64_t peer : {2, 3, 4, 5}) {
    solo.receive(peer, answer(solo, peer, before));
    EXPECT_TRUE(solo.effects.confirmations.empty()) << "a round begun before the question";
  }
  solo.receive(2, answer(solo, 2, round));
  solo.receive(2, answer(solo, 2, round));
  EXPECT_TRUE(solo.effects.confirmations.empty()) << "REG_R08: two of five";
  solo.receive(3, answer(solo, 3, round));
  EXPECT_EQ(solo.effects.confirmations, (std::vector<Confirmation>{{Ticket(7), Answer::Yes, Index(2)}}));
}

// Covers: REG_R64
TEST(ConfirmationTest, OneRoundReleasesEveryOlderQuestionAlsoIfTheirOwnRoundsWereLost) {
  Solo solo(3);
  solo.lead({2});
  solo.accept(2, 2);
  solo.written();
  solo.step(Confirm{Ticket(1)});
  solo.step(Confirm{Ticket(2)});
  solo.step(Confirm{Ticket(3)});
  solo.receive(2, answer(solo, 2, solo.only<Heartbeat>(2).round));
  ASSERT_EQ(solo.effects.confirmations.size(), 3u);
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(solo.effects.confirmations[i].ticket, Ticket(i + 1));
}

TEST(ConfirmationTest, QuestionsBeyondTheRoundsInFlightJoinTheNextHeartbeat) {
  Solo solo(3);
  solo.lead({2});
  solo.accept(2, 2);
  solo.written();
  size_t rounds = 0;
  for (uint64_t i = 1; i <= 50; ++i) {
    solo.step(Confirm{Ticket(i)});
    rounds += solo.sent<Heartbeat>(2).size();
  }
  EXPECT_LE(rounds, 8u);
  solo.heartbeat_interval();
  solo.receive(2, answer(solo, 2, solo.only<Heartbeat>(2).round));
  EXPECT_EQ(solo.effects.confirmations.size(), 50u);
}

// Covers: REG_R59
TEST(ConfirmationTest, NothingIsConfirmedBeforeAnEntryOfTheOwnTermIsCommitted) {
  Solo solo(3, {1, 1});
  solo.lead({2});
  solo.written();
  solo.step(Confirm{Ticket(1)});
  solo.receive(2, answer(solo, 2, solo.only<Heartbeat>(2).round));
  solo.receive(3, answer(solo, 3, 1));
  EXPECT_TRUE(solo.effects.confirmations.empty());
  solo.accept(2, 4);
  EXPECT_EQ(solo.effects.confirmations, (std::vector<Confirmation>{{Ticket(1), Answer::Yes, Index(4)}}));
}

TEST(ConfirmationTest, AnyLossOfLeadershipRefusesAQuestionAndAFollowerRefusesItAtOnce) {
  Solo solo(3);
  solo.step(Confirm{Ticket(1)});
  EXPECT_EQ(solo.effects.confirmations, (std::vector<Confirmation>{{.ticket = Ticket(1), .held = Answer::No}}));
  solo.lead({2});
  solo.step(Confirm{Ticket(2)});
  solo.receive(3, HeartbeatReply{.term = Term(9)});
  EXPECT_EQ(solo.effects.confirmations, (std::vector<Confirmation>{{.ticket = Ticket(2), .held = Answer::No}}));
}

// Covers: FLT_P03
TEST(ConfirmationTest, AFormerLeaderThatSleptConfirmsNothing) {
  Cluster cluster(3);
  cluster.elect(1);
  cluster.confirm(1);
  cluster.deliver_round();  // the answers wait in its mailbox while it sleeps
  auto mail = cluster.network();
  cluster.clear_network();
  cluster.node(1).now += std::chrono::seconds(10);
  cluster.confirm(1);
  for (const Flight& flight : mail) cluster.deliver(flight);
  ASSERT_EQ(cluster.node(1).confirmations.size(), 2u);
  for (const Confirmation& confirmation : cluster.node(1).confirmations) EXPECT_EQ(confirmation.held, Answer::No);
}

TEST(ConfirmationTest, ASoleVoterAnswersAtOnceAfterItsFirstEntry) {
  Solo solo(1);
  solo.timeout();
  solo.written();
  solo.step(Confirm{Ticket(1)});
  EXPECT_TRUE(solo.effects.confirmations.empty());
  solo.written();
  EXPECT_EQ(solo.effects.confirmations, (std::vector<Confirmation>{{Ticket(1), Answer::Yes, Index(2)}}));
  solo.step(Confirm{Ticket(2)});
  EXPECT_EQ(solo.effects.confirmations, (std::vector<Confirmation>{{Ticket(2), Answer::Yes, Index(2)}}));
}

// ---- entries read back

struct Evicted : Solo {
  Evicted() : Solo(3, {1, 1, 1, 1}, {}, {.append_bytes_max = 120, .cache_bytes_max = 0}) {
    lead({2});
    accept(2, 6);
    written();
    core().applied(Index(6));
    EXPECT_TRUE(core().committed(Index(7), 100).empty());
  }
  // Peer 3 has nothing after the genesis and says so.
  void reject() {
    receive(
        3,
        AppendReply{
            .term = term(), .stream = streams[3], .verdict = AppendVerdict::Conflict, .hint = at(1, 1), .rejected = Index(5)});
  }
  std::vector<Entry> stored(uint64_t first, uint64_t last) {
    std::vector<Entry> all = log_of(3, {1, 1, 1, 1});
    return {all.begin() + static_cast<ptrdiff_t>(first) - 1, all.begin() + static_cast<ptrdiff_t>(last)};
  }
};

TEST(ReadingTest, ALaggingPeerIsServedFromTheLogStore) {
  Evicted solo;
  solo.reject();
  EXPECT_TRUE(solo.only<AppendRequest>(3).entries.empty()) << "the probe needs no entries";
  EXPECT_TRUE(solo.effects.reads.empty());
  solo.accept(3, 1);
  ASSERT_EQ(solo.effects.reads.size(), 1u);
  EXPECT_EQ(solo.effects.reads[0].first, Index(2));
  solo.heartbeat_interval();
  EXPECT_TRUE(solo.effects.reads.empty()) << "one read at a time";
  solo.step(LogRead{Index(2), solo.stored(2, 3)});
  EXPECT_EQ(solo.only<AppendRequest>(3).entries, solo.stored(2, 3));
  ASSERT_EQ(solo.effects.reads.size(), 1u);
  EXPECT_EQ(solo.effects.reads[0].first, Index(4));
}

// Covers: REG_R27
TEST(ReadingTest, AFailedOrUnsoundReadLeadsToNothing) {
  std::vector<Entry> wrong_term{command(2, 3, "e1")};
  Entry rotten = command(2, 1, "e1");
  rotten.payload = bytes("zz");
  const std::vector<LogRead> bad = {{Index(2), absl::DataLossError("rot")},
                                    {Index(2), std::vector<Entry>{}},
                                    {Index(2), wrong_term},
                                    {Index(2), std::vector<Entry>{rotten}},
                                    {Index(2), std::vector<Entry>{command(3, 1, "e1")}},
                                    {Index(3), std::vector<Entry>{command(3, 1, "e1")}}};
  for (const LogRead& read : bad) {
    Evicted solo;
    solo.reject();
    solo.accept(3, 1);
    solo.step(read);
    EXPECT_TRUE(solo.effects.sends.empty());
    EXPECT_FALSE(solo.effects.write);
    EXPECT_TRUE(solo.core().committed(Index(2), 1000).empty());
    if (read.first != Index(2)) continue;
    solo.now += milliseconds(60);
    solo.step(Tick{});
    EXPECT_EQ(solo.effects.reads.size(), 1u) << "it is tried again, but not in a circle";
  }
}

TEST(ReadingTest, ApplyIsServedFromTheLogStore) {
  Evicted solo;
  EXPECT_TRUE(solo.core().committed(Index(2), 1000).empty());
  solo.drain();
  ASSERT_EQ(solo.effects.reads.size(), 1u);
  solo.step(LogRead{Index(2), solo.stored(2, 5)});
  const auto entries = solo.core().committed(Index(2), 1000);
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0], solo.stored(2, 2)[0]);
}

TEST(ReadingTest, CommittedGivesAtLeastOneEntryAndAtMostTheBytesAsked) {
  Solo solo(3, {1, 1, 1, 1});
  solo.receive(2, solo.append(1, at(5, 1), {}, 4));
  EXPECT_EQ(solo.core().committed(Index(2), 1).size(), 1u);
  EXPECT_EQ(solo.core().committed(Index(2), 101).size(), 2u);
  EXPECT_EQ(solo.core().committed(Index(2), 1000).size(), 3u);
  EXPECT_TRUE(solo.core().committed(Index(5), 1000).empty());
}

// ---- compaction

TEST(CompactionTest, TheLogGoesOnlyAsFarAsEveryMemberHasItAndACheckpointCoversIt) {
  Solo solo(3, {1, 1, 1});
  solo.lead({2});
  solo.written();
  solo.accept(2, 5);
  solo.step(Checkpointed{at(4, 1)});
  EXPECT_FALSE(solo.effects.compact) << "peer 3 may have nothing";
  solo.accept(3, 2);
  EXPECT_EQ(solo.effects.compact, at(2, 1));
  solo.accept(3, 5);
  EXPECT_EQ(solo.effects.compact, at(4, 1));
  EXPECT_EQ(solo.core().status().base, at(4, 1));
  solo.step(PeerUp{ReplicaId(3), BootCounter(2)});
  EXPECT_EQ(solo.only<AppendRequest>(3).previous, at(5, 2)) << "it starts where it was known to be";
}

TEST(CompactionTest, FollowersAreToldInAppendsAndHeartbeats) {
  Solo solo(3, {1, 1, 1});
  solo.receive(2, solo.append(2, at(4, 1), {}, 4));
  solo.step(Checkpointed{at(4, 1)});
  EXPECT_FALSE(solo.effects.compact);
  solo.receive(2, Heartbeat{.term = Term(2), .commit = Index(4), .everyone_has = Index(3)});
  EXPECT_EQ(solo.effects.compact, at(3, 1));
  AppendRequest append = solo.append(2, at(4, 1), {}, 4);
  append.everyone_has = Index(4);
  solo.receive(2, append);
  EXPECT_EQ(solo.effects.compact, at(4, 1));
}

TEST(CompactionTest, NoMemberIsEverCutOffHoweverLongItWasDown) {
  Cluster cluster(3, {.cache_bytes_max = 200});
  cluster.elect(1);
  cluster.crash(3);
  for (int i = 0; i < 100; ++i) {
    cluster.propose(1, "x" + std::to_string(i));
    cluster.quiesce();
    for (uint64_t id : {1, 2}) cluster.checkpoint(id);
  }
  EXPECT_LT(cluster.core(1).status().base.index, Index(4));
  cluster.start(3);
  cluster.run(milliseconds(500));
  EXPECT_TRUE(cluster.converged());
  EXPECT_EQ(cluster.node(3).applied, Index(102));
  cluster.checkpoint(1);
  EXPECT_EQ(cluster.core(1).status().base.index, Index(102));
}

TEST(LogReadTest, WhatARecoveredLogLeftOutIsReadBackForThePeerThatNeedsIt) {
  Recovered recovered{.hard_state = {Term(1), {}}, .entries = log_of(3, {1, 1, 1, 1})};
  const std::vector<Entry> whole = recovered.entries;
  for (size_t i : {1, 2}) recovered.entries[i].payload = {};
  recovered.applied = at(4, 1);
  Solo solo(recovered);
  solo.lead({2, 3});
  solo.written();
  solo.accept(2, 6);
  solo.receive(3, AppendReply{.term = solo.term(),
                              .stream = solo.streams[3],
                              .verdict = AppendVerdict::Conflict,
                              .hint = at(1, 1),
                              .rejected = Index(5)});
  solo.accept(3, 1);
  ASSERT_EQ(solo.effects.reads.size(), 1u);
  EXPECT_EQ(solo.effects.reads[0].first, Index(2));
  EXPECT_EQ(solo.effects.reads[0].last, Index(3));
  solo.step(LogRead{Index(2), std::vector<Entry>(whole.begin() + 1, whole.begin() + 3)});
  EXPECT_EQ(solo.sent<AppendRequest>(3).front().entries, std::vector<Entry>(whole.begin() + 1, whole.begin() + 3));
}

}  // namespace
}  // namespace coordkit::raft::testing

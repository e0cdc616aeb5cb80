// A state in place of entries: which peer is reported to need one, the log after it, and what may be claimed then.
#include <gtest/gtest.h>

#include "base/check.h"
#include "raft/log/log_weight.h"
#include "solo.h"

namespace coordkit::raft::testing {
namespace {

Configuration members(size_t count) { return genesis_of(count).configuration; }
Installed state(uint64_t term, Position at, uint64_t configuration_index = 1) {
  return {Term(term), at, members(3), Index(configuration_index)};
}

// ---- what is kept

TEST(LogWeightTest, SparesWhatTheBudgetCoversAndALittleMore) {
  LogWeight weight(Index(10), 1000);
  EXPECT_EQ(weight.beyond_budget(), Index(10)) << "nothing to forget";
  for (uint64_t i = 11; i <= 200; ++i) weight.append(Index(i), 100);
  const Index beyond = weight.beyond_budget();
  EXPECT_LE(beyond, Index(190));
  EXPECT_GE(beyond, Index(188));
  weight.compact(beyond);
  EXPECT_EQ(weight.beyond_budget(), beyond);
  EXPECT_TRUE(weight.reached_after(beyond));
  EXPECT_FALSE(weight.reached_after(Index(192)));
  weight.truncate_after(Index(195));
  EXPECT_LE(weight.beyond_budget(), Index(195));
  weight.reset(Index(500));
  EXPECT_EQ(weight.beyond_budget(), Index(500));
}

TEST(LogWeightTest, WithoutABudgetNothingIsSpared) {
  LogWeight weight(Index(0), 0);
  for (uint64_t i = 1; i <= 5; ++i) weight.append(Index(i), 10);
  EXPECT_EQ(weight.beyond_budget(), Index(5));
}

struct LeadingSolo : Solo {
  explicit LeadingSolo(Options options = {.log_retained_bytes = 0}) : Solo(3, {1, 1, 1, 1}, {}, options) {
    lead({2});
    written();
    accept(2, 6);
  }
  bool compacted(uint64_t index) const { return effects.compact && effects.compact->index == Index(index); }
  // A heartbeat that only `peer` answers.
  void answered_heartbeat(uint64_t peer) {
    heartbeat_interval();
    const std::optional<Position> compact = effects.compact;
    const uint64_t round = only<Heartbeat>(peer).round;
    receive(peer, HeartbeatReply{.term = term(), .stream = streams[peer], .round = round});
    if (!effects.compact) effects.compact = compact;
  }
};

TEST(RetentionTest, TheRetainedLogServesAbsentPeersUpToItsBudget) {
  LeadingSolo none;
  none.step(Checkpointed{at(5, 1)});
  EXPECT_EQ(none.effects.compact, at(5, 1)) << "peer 3 has not answered";
  LeadingSolo all({.log_retained_bytes = 1 << 20});
  all.step(Checkpointed{at(5, 1)});
  EXPECT_FALSE(all.effects.compact);
  LeadingSolo some({.log_retained_bytes = 100});  // three entries of about 50 bytes
  some.step(Checkpointed{at(5, 1)});
  ASSERT_TRUE(some.effects.compact);
  EXPECT_EQ(some.effects.compact->index, Index(3));
}

TEST(RetentionTest, APinHoldsEntriesBackWhateverTheBudget) {
  LeadingSolo solo;
  solo.step(Pin{Index(3)});
  solo.step(Checkpointed{at(5, 1)});
  EXPECT_EQ(solo.effects.compact, at(3, 1));
  solo.step(Pin{});
  EXPECT_EQ(solo.effects.compact, at(5, 1));
}

TEST(RetentionTest, APinGivesWayToItsOwnBudget) {
  LeadingSolo solo({.log_retained_bytes = 0, .log_pinned_bytes = 100});
  solo.step(Pin{Index(2)});
  solo.step(Checkpointed{at(5, 1)});
  ASSERT_TRUE(solo.effects.compact);
  EXPECT_EQ(solo.effects.compact->index, Index(3));
}

// Covers: FLT_O07
TEST(RetentionTest, WhatAPeerLacksThatIsCatchingUpIsKeptUpToTheLargerBudget) {
  LeadingSolo solo;
  solo.accept(3, 2);
  solo.step(Checkpointed{at(5, 1)});
  EXPECT_EQ(solo.effects.compact, at(2, 1)) << "its next appends";
  solo.accept(3, 4);
  EXPECT_EQ(solo.effects.compact, at(4, 1));
  LeadingSolo little({.log_retained_bytes = 0, .log_pinned_bytes = 100});
  little.accept(3, 2);
  little.step(Checkpointed{at(5, 1)});
  EXPECT_EQ(little.effects.compact, at(3, 1));
}

// Entries that it has in memory may be gone before they are on its disk, or be another leader's.
// Covers: FLT_O07
TEST(RetentionTest, OfAPeerThatIsProbedOnlyWhatItAcknowledgedIsTakenForStored) {
  const auto conflict = [](Solo& solo, uint64_t rejected, Position hint) {
    solo.receive(3, AppendReply{.term = solo.term(),
                                .stream = solo.streams[3],
                                .verdict = AppendVerdict::Conflict,
                                .hint = hint,
                                .rejected = Index(rejected),
                                .round = 1});
  };
  LeadingSolo in_this_stream;
  in_this_stream.accept(3, 2);
  conflict(in_this_stream, 6, at(4, 1));  // restarted: some of what was sent to it is lost
  in_this_stream.step(Checkpointed{at(5, 1)});
  EXPECT_EQ(in_this_stream.effects.compact, at(2, 1));

  LeadingSolo before;
  before.accept(3, 3);
  before.step(PeerUp{ReplicaId(3), BootCounter(2)});
  before.streams[3] = before.only<AppendRequest>(3).stream;
  before.step(Checkpointed{at(5, 1)});
  EXPECT_EQ(before.effects.compact, at(3, 1)) << "a new connection takes nothing from its disk";

  LeadingSolo never;
  conflict(never, 5, at(4, 1));
  never.step(Checkpointed{at(5, 1)});
  EXPECT_LE(never.core().base(), Index(1)) << "nothing is known of its disk";
  never.accept(3, 4);
  EXPECT_EQ(never.effects.compact, at(4, 1));
}

// Its disk is slow: what it was sent is in its memory. An append is lost, so it says how far its log goes, and is probed there.
// With the next connection it has to start from what it acknowledged, though nothing was wrong with it.
// Covers: FLT_O07
TEST(RetentionTest, ASlowDiskAndALostAppendCostNoState) {
  Cluster cluster(3, {.disk_lag_max = Duration::max(), .log_retained_bytes = 0});
  cluster.elect(1);
  cluster.node(3).disk_stalled = true;
  for (int i = 0; i < 20; ++i) cluster.propose(1, "on two disks, and in the memory of 3");
  cluster.quiesce();
  const auto third = [&] { return cluster.core(1).status().peers.at(1); };
  const Index acknowledged = third().match;
  cluster.cut(1, 3);
  for (int i = 0; i < 5; ++i) cluster.propose(1, "unknown to 3");
  cluster.quiesce();
  cluster.heal();
  cluster.propose(1, "refused by 3");
  cluster.quiesce();
  ASSERT_EQ(third().match, acknowledged);
  cluster.checkpoint(1);
  ASSERT_GT(cluster.node(1).checkpoint.index, Index(22));
  cluster.step(1, PeerUp{ReplicaId(3), BootCounter(1)});
  cluster.quiesce();
  EXPECT_TRUE(cluster.node(1).behind.empty()) << "the log starts after " << cluster.core(1).base().value();
  cluster.node(3).disk_stalled = false;
  cluster.run(milliseconds(200));
  EXPECT_TRUE(cluster.converged());
  EXPECT_EQ(cluster.core(1).base(), cluster.node(1).checkpoint.index) << "nobody needs it any more";
}

// Covers: FLT_O07
TEST(RetentionTest, ALeaderWithoutACheckpointSaysWhatIsNeededToo) {
  LeadingSolo solo;
  solo.accept(3, 2);
  solo.heartbeat_interval();
  EXPECT_EQ(solo.only<Heartbeat>(2).needed, Index(2)) << "a follower may have one, and lead next";
}

// Covers: FLT_O07
TEST(RetentionTest, ForAPeerThatIsSilentOnlyTheSmallerBudgetIsKept) {
  LeadingSolo solo;
  solo.accept(3, 2);
  solo.step(Checkpointed{at(5, 1)});
  for (int i = 0; i < 100 && !solo.compacted(5); ++i) {
    ASSERT_LT(i, 99) << "it is silent for long";
    solo.answered_heartbeat(2);
  }
}

// Covers: FLT_O07
TEST(RetentionTest, AFollowerKeepsWhatItsLeaderSaysIsNeeded) {
  Solo solo(3, {1, 1, 1, 1}, {}, {.log_retained_bytes = 0});
  const auto beat = [&](uint64_t needed) {
    solo.receive(2, Heartbeat{.term = Term(2), .stream = 1, .commit = Index(5), .round = 1, .needed = Index(needed)});
  };
  solo.receive(2, solo.append(2, at(5, 1), {}, 5));
  beat(2);
  solo.step(Checkpointed{at(5, 1)});
  EXPECT_EQ(solo.effects.compact, at(2, 1));
  beat(4);
  EXPECT_EQ(solo.effects.compact, at(4, 1));
}

// Covers: FLT_O07
TEST(RetentionTest, ALeaderThatIsDeposedKeepsWhatItHasSaidToBeNeeded) {
  LeadingSolo solo;
  solo.accept(3, 2);
  solo.step(Checkpointed{at(5, 1)});
  solo.heartbeat_interval();
  solo.timeout();
  solo.now += std::chrono::seconds(1);
  solo.step(Tick{});
  ASSERT_EQ(solo.role(), Role::Follower) << "no peer answers";
  EXPECT_FALSE(solo.effects.compact);
  EXPECT_EQ(solo.core().base(), Index(2));
}

// ---- holding back

TEST(HoldingBackTest, ALeaderHoldsBackWhileAVoterThatAnswersIsFartherBehindThanTheOption) {
  LeadingSolo solo({.log_retained_bytes = 0, .follower_lag_bytes_max = 300});
  solo.accept(3, 6);
  solo.propose(std::string(200, 'x'));
  solo.accept(2, 7);
  EXPECT_FALSE(solo.core().holds_back());
  solo.propose(std::string(200, 'x'));
  solo.accept(2, 8);
  EXPECT_TRUE(solo.core().holds_back());
  solo.heartbeat_interval();
  EXPECT_TRUE(solo.only<Heartbeat>(2).hold_back) << "all are told";
  solo.propose("small");
  EXPECT_EQ(solo.last(), Index(9)) << "the core takes what comes; its host keeps it out";
  solo.accept(3, 8);
  EXPECT_FALSE(solo.core().holds_back());
  solo.heartbeat_interval();
  EXPECT_FALSE(solo.only<Heartbeat>(2).hold_back);
}

TEST(HoldingBackTest, AVoterThatIsSilentHoldsUpNobody) {
  LeadingSolo solo({.log_retained_bytes = 0, .follower_lag_bytes_max = 300});
  solo.accept(3, 6);
  solo.propose(std::string(500, 'x'));
  solo.propose("y");
  solo.accept(2, 8);
  EXPECT_TRUE(solo.core().holds_back());
  for (int i = 0; i < 100 && solo.core().holds_back(); ++i) {
    ASSERT_LT(i, 99);
    solo.answered_heartbeat(2);
  }
}

TEST(HoldingBackTest, AFollowerDoesAsItsLeaderSaidLast) {
  Solo solo(3);
  EXPECT_FALSE(solo.core().holds_back());
  for (int i = 0; i < 2; ++i) {
    solo.receive(2, Heartbeat{.term = Term(2), .stream = 1, .round = 1, .committed = Index(70), .hold_back = true});
  }
  EXPECT_TRUE(solo.core().holds_back());
  EXPECT_EQ(solo.core().leader_commit(), Index(70));
  solo.receive(2, Heartbeat{.term = Term(2), .stream = 1, .round = 2, .committed = Index(60)});
  EXPECT_FALSE(solo.core().holds_back());
  EXPECT_EQ(solo.core().leader_commit(), Index(70)) << "an older word";
}

// ---- the leader

struct PeerBehind : LeadingSolo {
  PeerBehind() {
    step(Checkpointed{at(5, 1)});
    conflict(6, at(1, 1));
    conflict(5, at(1, 1));
  }
  void conflict(uint64_t rejected, Position hint) {
    receive(3, AppendReply{.term = term(),
                           .stream = streams[3],
                           .verdict = AppendVerdict::Conflict,
                           .hint = hint,
                           .rejected = Index(rejected)});
  }
  std::vector<ReplicaId> three() { return {ReplicaId(3)}; }
};

TEST(BehindTest, APeerThatNeedsWhatIsGoneIsNamedAndGetsNoAppends) {
  PeerBehind solo;
  EXPECT_EQ(solo.effects.behind, solo.three());
  EXPECT_TRUE(solo.core().status().peers[1].behind);
  solo.propose("x");
  EXPECT_EQ(solo.sent<AppendRequest>(3).size(), 0u);
  EXPECT_EQ(solo.sent<AppendRequest>(2).size(), 1u);
  solo.heartbeat_interval();
  EXPECT_EQ(solo.sent<Heartbeat>(3).size(), 1u) << "it still hears its leader";
  EXPECT_EQ(solo.effects.behind, solo.three()) << "in every drain";
}

TEST(BehindTest, AMatchAtOurBaseOrAboveEndsIt) {
  for (const uint64_t match : {5, 6}) {
    PeerBehind solo;
    solo.receive(3, HeartbeatReply{.term = solo.term(), .stream = solo.streams[3], .match = Index(match), .round = 1});
    EXPECT_TRUE(solo.effects.behind.empty()) << match;
    solo.propose("x");
    EXPECT_EQ(solo.only<AppendRequest>(3).entries.back().index, Index(7)) << match;
  }
}

TEST(BehindTest, AMatchBelowOurBaseDoesNot) {
  PeerBehind solo;
  solo.receive(3, HeartbeatReply{.term = solo.term(), .stream = solo.streams[3], .match = Index(4), .round = 1});
  EXPECT_EQ(solo.effects.behind, solo.three());
  EXPECT_TRUE(solo.sent<AppendRequest>(3).empty());
  EXPECT_TRUE(solo.effects.reads.empty()) << "nothing that is gone is looked for";
}

TEST(BehindTest, LateRejectionsChangeNothing) {
  PeerBehind solo;
  solo.conflict(6, at(1, 1));
  solo.conflict(2, at(1, 1));
  EXPECT_EQ(solo.effects.behind, solo.three());
  EXPECT_TRUE(solo.sent<AppendRequest>(3).empty());
}

TEST(BehindTest, ANewConnectionIsProbedAgainAtOurBase) {
  PeerBehind solo;
  solo.step(PeerUp{ReplicaId(3), BootCounter(2)});
  const auto probe = solo.only<AppendRequest>(3);
  EXPECT_EQ(probe.previous, at(5, 1));
  EXPECT_TRUE(solo.effects.behind.empty()) << "it may have got a state from another peer";
  solo.streams[3] = probe.stream;
  solo.conflict(5, at(1, 1));
  EXPECT_EQ(solo.effects.behind, solo.three());
}

TEST(BehindTest, APeerThatDoesNotAnswerHeartbeatsIsProbedFromTheBase) {
  PeerBehind solo;
  bool shown = false;
  for (int i = 0; i < 6; ++i) {
    solo.heartbeat_interval();
    for (const AppendRequest& append : solo.sent<AppendRequest>(3)) shown |= append.previous == at(5, 1);
    solo.receive(2, HeartbeatReply{.term = solo.term(), .stream = solo.streams[2], .round = solo.only<Heartbeat>(2).round});
  }
  EXPECT_TRUE(shown);
  EXPECT_EQ(solo.effects.behind, solo.three());
}

TEST(BehindTest, NothingIsPreparedForOneThatDoesNotAnswerAtAll) {
  PeerBehind solo;
  for (int i = 0; i < 100 && !solo.effects.behind.empty(); ++i) {
    ASSERT_LT(i, 99);
    solo.answered_heartbeat(2);
  }
  EXPECT_TRUE(solo.core().status().peers[1].behind);
  solo.heartbeat_interval();
  const uint64_t round = solo.only<Heartbeat>(3).round;
  solo.receive(3, HeartbeatReply{.term = solo.term(), .stream = solo.streams[3], .round = round});
  EXPECT_EQ(solo.effects.behind, solo.three()) << "it is back";
}

TEST(BehindTest, WhoIsSentAStateHoldsBackByTheLogAfterItOnly) {
  for (const bool far : {true, false}) {
    LeadingSolo solo({.log_retained_bytes = 0, .follower_lag_bytes_max = 300});
    solo.step(Checkpointed{at(5, 1)});
    for (const uint64_t rejected : {6, 5}) {
      solo.receive(3, AppendReply{.term = solo.term(),
                                  .stream = solo.streams[3],
                                  .verdict = AppendVerdict::Conflict,
                                  .hint = at(1, 1),
                                  .rejected = Index(rejected)});
    }
    for (int i = 0; i < 4; ++i) solo.propose(std::string(100, 'x'));
    solo.accept(2, 10);
    EXPECT_FALSE(solo.core().holds_back()) << "it waits, and may have to";
    solo.step(Pin{Index(far ? 6 : 9)});
    EXPECT_EQ(solo.core().holds_back(), far);
  }
}

TEST(BehindTest, AFollowerReportsNoPeerAsBehind) {
  PeerBehind solo;
  solo.receive(2, Heartbeat{.term = Term(9)});
  EXPECT_TRUE(solo.effects.behind.empty());
}

// ---- peers that are sent a state

TEST(InstalledTest, ALogThatDoesNotHoldThePositionStartsAgainAfterIt) {
  Solo solo(3, {2, 2, 2});
  solo.receive(2, solo.append(3, at(2, 2), {}));
  solo.step(state(3, at(100, 3), 42));
  ASSERT_TRUE(solo.effects.write);
  EXPECT_EQ(solo.effects.write->reset_to, at(100, 3));
  EXPECT_TRUE(solo.effects.write->entries.empty());
  const Status status = solo.core().status();
  EXPECT_EQ(status.base, at(100, 3));
  EXPECT_EQ(status.last, at(100, 3));
  EXPECT_EQ(status.commit, Index(100));
  EXPECT_EQ(status.durable, Index(100)) << "the state is";
  EXPECT_EQ(status.configuration_index, Index(42)) << "REG_R36";
  EXPECT_EQ(status.hard_state, (HardState{Term(3), {}}));
  EXPECT_TRUE(solo.core().committed(Index(4), 1000).empty());
}

TEST(InstalledTest, ALogThatHoldsItIsKept) {
  Solo solo(3, {2, 2, 2});  // last 4@2
  solo.receive(2, solo.append(3, at(2, 2), {}));
  solo.written();
  solo.step(state(3, at(3, 2)));
  EXPECT_FALSE(solo.effects.write);
  EXPECT_EQ(solo.last(), Index(4));
  EXPECT_EQ(solo.core().commit(), Index(3));
}

// Covers: REG_R31
TEST(InstalledTest, EntriesFollowInTheSameWriteWithoutAGap) {
  Solo solo(3, {2});
  solo.core().step(Received{ReplicaId(2), Heartbeat{.term = Term(3)}}, solo.now);
  solo.core().step(state(3, at(100, 3)), solo.now);
  solo.core().step(Received{ReplicaId(2), solo.append(3, at(100, 3), {command(101, 3)}, 101)}, solo.now);
  solo.drain();
  ASSERT_TRUE(solo.effects.write);
  EXPECT_EQ(solo.effects.write->hard_state, (HardState{Term(3), {}}));
  EXPECT_EQ(solo.effects.write->reset_to, at(100, 3));
  EXPECT_EQ(solo.effects.write->entries, std::vector<Entry>{command(101, 3)});
  EXPECT_EQ(solo.core().durable(), Index(100));
  EXPECT_EQ(solo.effects.sends.back().after, solo.effects.write->number) << "INV_R17: entry 101 is in it";
  solo.written();
  EXPECT_EQ(solo.core().durable(), Index(101));
}

// Covers: REG_R05
TEST(InstalledTest, TheLeaderIsToldWithItsNextHeartbeat) {
  Solo solo(3, {2, 2, 2});
  solo.receive(2, Heartbeat{.term = Term(3), .stream = 7, .round = 1});
  EXPECT_EQ(solo.only<HeartbeatReply>(2).match, Index(0));
  solo.written();
  solo.step(state(3, at(100, 3)));
  solo.receive(2, Heartbeat{.term = Term(3), .stream = 7, .round = 2});
  EXPECT_EQ(solo.only<HeartbeatReply>(2).match, Index(100));
  EXPECT_EQ(solo.effects.sends.back().after, WriteNumber()) << "needs no write of the log";
}

TEST(InstalledTest, WritesUnderWayDoNotCountForTheNewLog) {
  Solo solo(3);
  solo.receive(2, solo.append(1, at(1, 1), {command(2, 1), command(3, 1)}));
  const WriteNumber old = solo.effects.write->number;
  solo.step(state(3, at(100, 3)));
  const WriteNumber reset = solo.effects.write->number;
  EXPECT_EQ(reset, old.next());
  solo.step(Written{old});
  EXPECT_EQ(solo.core().durable(), Index(100));
  solo.receive(2, solo.append(3, at(100, 3), {command(101, 3)}));
  EXPECT_EQ(solo.core().durable(), Index(100));
  solo.step(Written{reset});
  EXPECT_EQ(solo.core().durable(), Index(100));
}

// Covers: REG_R18
TEST(InstalledTest, WhateverItsRoleAReplicaInstallsButALeaderNeedsNothing) {
  for (const Role role : {Role::Follower, Role::PreCandidate, Role::Candidate}) {
    Solo solo(3, {2, 2});
    if (role != Role::Follower) solo.timeout();
    if (role == Role::Candidate) {
      const uint64_t round = std::get<VoteRequest>(solo.effects.sends.front().message).round;
      solo.receive(2, VoteReply{VoteKind::Pre, Term(1), round, Answer::Yes});
    }
    ASSERT_EQ(solo.role(), role);
    const Term term = solo.term();
    solo.step(state(1, at(100, 1)));
    EXPECT_EQ(solo.last(), Index(100));
    EXPECT_EQ(solo.role(), Role::Follower);
    EXPECT_EQ(solo.term(), term) << "its promise to vote for no other stays";
  }
  LeadingSolo leader(Options{});
  EXPECT_THROW(leader.step(state(1, at(100, 1))), CheckFailure);
}

TEST(InstalledTest, ANewerTermIsAdoptedFirst) {
  LeadingSolo leader(Options{});
  leader.step(state(9, at(100, 8)));
  EXPECT_EQ(leader.role(), Role::Follower);
  EXPECT_EQ(leader.term(), Term(9));
  EXPECT_EQ(leader.last(), Index(100));
}

TEST(InstalledTest, AnOlderStateIsNoNews) {
  Recovered recovered{.hard_state = {Term(2), {}}, .base = at(50, 2), .configuration = members(3), .applied = at(50, 2)};
  Solo solo(recovered);
  for (const Position old : {at(50, 2), at(20, 1)}) {
    solo.step(state(2, old));
    EXPECT_FALSE(solo.effects.write);
    EXPECT_EQ(solo.last(), Index(50));
  }
}

// Covers: REG_R21
TEST(InstalledTest, APreviousPositionAroundAnInstalledOneIsJudgedLikeAnyOther) {
  struct Case {
    Position previous = {};
    size_t entries = 0;
    AppendVerdict verdict = AppendVerdict::Accepted;
    uint64_t match = 0;
  };
  using V = AppendVerdict;
  const Case cases[] = {{at(0, 0), 0, V::Accepted, 0},     {at(0, 0), 3, V::Accepted, 3},     {at(98, 3), 1, V::Accepted, 99},
                        {at(98, 2), 4, V::Accepted, 102},  {at(99, 3), 1, V::Accepted, 100},  {at(99, 3), 2, V::Accepted, 101},
                        {at(100, 3), 0, V::Accepted, 100}, {at(100, 3), 1, V::Accepted, 101}, {at(101, 2), 1, V::Conflict, 0},
                        {at(101, 3), 0, V::Conflict, 0},   {at(101, 3), 1, V::Conflict, 0}};
  for (const Case& c : cases) {
    Solo solo(3, {2, 2, 2});
    solo.step(state(4, at(100, 3)));
    solo.written();
    std::vector<Entry> entries;
    for (size_t i = 1; i <= c.entries; ++i) entries.push_back(command(c.previous.index.value() + i, 3));
    solo.receive(2, solo.append(4, c.previous, entries));
    const AppendReply reply = solo.only<AppendReply>(2);
    EXPECT_EQ(reply.verdict, c.verdict) << c.previous.index.value();
    EXPECT_EQ(reply.match, Index(c.match)) << c.previous.index.value();
    if (reply.verdict == V::Conflict) {
      EXPECT_LE(reply.hint.index, Index(100)) << c.previous.index.value();
    }
    EXPECT_EQ(solo.last(), Index(std::max<uint64_t>(100, c.match))) << c.previous.index.value();
  }
  Solo solo(3, {2, 2, 2});
  solo.step(state(4, at(100, 3)));
  solo.receive(2, solo.append(4, at(100, 2), {command(101, 3)}));
  EXPECT_EQ(solo.effects.contradiction, (Contradiction{ReplicaId(2), Term(4), at(100, 2), at(100, 3)}));
}

TEST(InstalledTest, AnInterruptedOneIsFinishedByTheFirstWriteAfterTheRestart) {
  Solo solo(Recovered{.hard_state = {Term(5), ReplicaId(2)},
                      .base = at(100, 3),
                      .configuration = members(3),
                      .configuration_index = Index(42),
                      .applied = at(100, 3),
                      .log_replaced = true});
  ASSERT_TRUE(solo.effects.write);
  EXPECT_EQ(solo.effects.write->reset_to, at(100, 3));
  EXPECT_FALSE(solo.effects.write->hard_state) << "INV_R03: what was promised stays";
  EXPECT_EQ(solo.core().status().hard_state, (HardState{Term(5), ReplicaId(2)}));
  solo.receive(2, solo.append(5, at(100, 3), {command(101, 5)}));
  EXPECT_FALSE(solo.effects.write->reset_to);
}

// INV_R17: the disk that holds the state may have been faster than the one that holds the term.
// Covers: INV_R17
TEST(InstalledTest, ATermThatOnlyTheStateKnowsIsWrittenBeforeItIsSpokenOf) {
  Solo solo(Recovered{.hard_state = {Term(3), ReplicaId(2)},
                      .base = at(100, 4),
                      .configuration = members(3),
                      .configuration_index = Index(42),
                      .applied = at(100, 4),
                      .log_replaced = true});
  ASSERT_TRUE(solo.effects.write);
  EXPECT_EQ(solo.effects.write->reset_to, at(100, 4));
  EXPECT_EQ(solo.effects.write->hard_state, (HardState{Term(4), ReplicaId()}));
  const WriteNumber first = solo.effects.write->number;
  solo.receive(2, solo.append(4, at(100, 4), {}));
  ASSERT_FALSE(solo.effects.sends.empty());
  EXPECT_EQ(solo.effects.sends.front().after, first);
}

TEST(InstalledTest, AChangeOfMembersUnderItIsToldAsUnknownOrOverwritten) {
  for (const bool possible : {true, false}) {
    LeadingSolo solo(Options{});
    solo.step(ChangeMembership{Ticket(5), {add(4)}, Index(1)});  // entry 7
    ASSERT_EQ(solo.last(), Index(7));
    solo.step(state(9, at(100, 8), possible ? 50 : 1));
    ASSERT_EQ(solo.effects.changes.size(), 1u);
    EXPECT_EQ(solo.effects.changes[0].kind, possible ? ChangeOutcome::Kind::Unknown : ChangeOutcome::Kind::Overwritten);
  }
}

TEST(InstalledTest, ANewLearnerIsBroughtUpByAStateAndTheLogAfterIt) {
  Cluster cluster(3, {.log_retained_bytes = 0}, 1, 1);
  cluster.elect(1);
  for (int i = 0; i < 20; ++i) cluster.propose(1, "x");
  cluster.quiesce();
  for (uint64_t id : {1, 2, 3}) cluster.checkpoint(id);
  cluster.change(1, {add(4)});
  cluster.run(milliseconds(200));
  ASSERT_EQ(cluster.node(1).behind, std::vector<ReplicaId>{ReplicaId(4)});
  cluster.install(4, 1);
  cluster.run(milliseconds(200));
  EXPECT_TRUE(cluster.node(1).behind.empty());
  cluster.change(1, {promote(4)});
  cluster.run(milliseconds(200));
  EXPECT_TRUE(cluster.converged());
  EXPECT_TRUE(cluster.core(4).status().configuration.learners.empty());
}

}  // namespace
}  // namespace coordkit::raft::testing

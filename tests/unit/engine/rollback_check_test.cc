// Rolled-back disks: the peers that remember, the replica that asks, and the outcome.
#include "engine/disks/rollback_check.h"

#include <gtest/gtest.h>

#include "base/sums.h"
#include "engine/peers/peer_marks.h"
#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

// ---- what is remembered

TEST(PeerMarksTest, AnOlderTermPositionOrBootOfAPeerChangesNoMark) {
  PeerMarks marks({});
  EXPECT_FALSE(marks.take_changed());
  marks.held(StoreId(2), Term(4), {Index(10), Term(3)});
  marks.held(StoreId(2), Term(4), {Index(9), Term(3)});
  marks.held(StoreId(2), Term(3), {Index(99), Term(3)});
  marks.voted(StoreId(2), Term(3), ReplicaId(5));
  marks.voted(StoreId(2), Term(4), ReplicaId(1));
  marks.voted(StoreId(2), Term(4), ReplicaId(3));
  marks.started(StoreId(2), BootCounter(3), 7);
  marks.started(StoreId(2), BootCounter(2), 8);
  marks.started(StoreId(2), BootCounter(3), 9);
  const PeerMark expected{StoreId(2), BootCounter(3), 7, Term(4), ReplicaId(1), {Index(10), Term(3)}};
  EXPECT_EQ(marks.of(StoreId(2)), expected);
  EXPECT_EQ(marks.take_changed(), std::vector<PeerMark>{expected});
  EXPECT_FALSE(marks.take_changed()) << "nothing new to write";
  marks.voted(StoreId(2), Term(5), ReplicaId(3));
  EXPECT_EQ(marks.of(StoreId(2))->match, Position()) << "the log of another leader";
  marks.held(StoreId(2), Term(6), {Index(2), Term(2)});
  EXPECT_EQ(marks.of(StoreId(2))->vote, ReplicaId()) << "in another term";
  EXPECT_TRUE(marks.take_changed());
}

TEST(PeerMarksTest, AreSortedBoundedAndForgetNonmembers) {
  PeerMarks marks({});
  for (uint64_t store = 2 * kPeerMarksMax; store > 0; --store) marks.voted(StoreId(store), Term(1), ReplicaId(1));
  const auto all = marks.take_changed();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), kPeerMarksMax);
  EXPECT_TRUE(std::is_sorted(all->begin(), all->end(), [](auto& a, auto& b) { return a.store < b.store; }));
  marks.keep([&](StoreId store) { return store == all->front().store; });
  EXPECT_EQ(marks.take_changed()->size(), 1u);
  EXPECT_FALSE(marks.of(all->back().store));
}

// ---- what an answer means

struct Asked : ::testing::Test {
  Asked() {
    options.start = 77;
    check.emplace(options, Origin{ReplicaId(1), StoreId(101), BootCounter(5)});
    check->begin(RollbackCheck::Disk::WithHistory);
  }
  // The disk knows term 4 and gave its vote to replica 2; its log starts after entry 5, and from 15 on it is of term 3.
  std::optional<std::string> answer(PeerMark known) {
    known.store = StoreId(101);
    const auto term_at = [](Index index) -> std::optional<Term> {
      if (index < Index(5) || index > Index(20)) return std::nullopt;
      return index < Index(15) ? Term(2) : Term(3);
    };
    const RollbackCheck::Holds disk{{Term(4), ReplicaId(2)}, {Index(20), Term(3)}, term_at};
    return check->answered(ReplicaId(2), StoreId(), {check->question(), known}, disk);
  }
  EngineOptions options;
  std::optional<RollbackCheck> check;
};

// Covers: FLT_P15
TEST_F(Asked, WhatTheDiskHoldsIsInOrder) {
  EXPECT_FALSE(answer({}));
  EXPECT_FALSE(answer({.boot = BootCounter(5), .start = 77, .term = Term(4), .match = {Index(20), Term(3)}}));
  EXPECT_FALSE(
      answer({.boot = BootCounter(4), .start = 3, .term = Term(3), .vote = ReplicaId(9), .match = {Index(500), Term(3)}}))
      << "a later term cut it off";
  EXPECT_FALSE(answer({.term = Term(4), .vote = ReplicaId(2), .match = {Index(14), Term(2)}}));
  EXPECT_FALSE(answer({.term = Term(4), .match = {Index(3), Term(1)}})) << "before the base: committed";
  EXPECT_FALSE(answer({.term = Term(4), .match = {Index(20), Term()}})) << "of an unknown term";
  EXPECT_TRUE(check->answered(ReplicaId(2)));
}

// Covers: FLT_P15
TEST_F(Asked, WhatTheDiskLacksIsSaidInASentence) {
  EXPECT_NE(answer({.term = Term(5)})->find("in term 5, the disk knows term 4"), std::string::npos);
  EXPECT_NE(answer({.term = Term(4), .match = {Index(21), Term(3)}})->find("entry 21 acknowledged in term 4"),
            std::string::npos);
  EXPECT_NE(answer({.term = Term(4), .vote = ReplicaId(3)})->find("a vote for replica 3 in term 4"), std::string::npos);
  EXPECT_NE(answer({.term = Term(4), .match = {Index(15), Term(4)}})->find("entry 15 of term 4 acknowledged in term 4"),
            std::string::npos);
  EXPECT_NE(answer({.boot = BootCounter(6), .start = 1})->find("start 6, this is start 5"), std::string::npos);
  EXPECT_NE(answer({.boot = BootCounter(5), .start = 1})->find("for the second time"), std::string::npos);
  EXPECT_FALSE(check->answered(ReplicaId(2)));
}

TEST_F(Asked, StartsThatAreNotToldApartAreNotCompared) {
  EXPECT_FALSE(answer({.boot = BootCounter(5), .start = 0}));
  options.start = 0;
  EXPECT_FALSE(answer({.boot = BootCounter(5), .start = 1}));
}

TEST_F(Asked, AnswersToAnEarlierStartCountForNothing) {
  RecallReply reply{check->question(), {}};
  reply.asked.start = 76;
  EXPECT_FALSE(check->answered(ReplicaId(2), StoreId(), reply, {{}, {}, [](Index) { return std::optional<Term>(); }}));
  EXPECT_FALSE(check->answered(ReplicaId(2)));
}

TEST_F(Asked, PeersAreAskedAgainUntilAMajorityHasAnsweredAndThenOnceForEachConnection) {
  const LaggingTime now(1s);
  EXPECT_TRUE(check->due(now, false).empty());
  check->connected(ReplicaId(2));
  check->connected(ReplicaId(3));
  EXPECT_EQ(check->due(now, false).size(), 2u);
  EXPECT_TRUE(check->due(now, false).empty());
  EXPECT_EQ(check->next_deadline(), now + options.raft.heartbeat_interval);
  EXPECT_FALSE(answer({}));
  EXPECT_EQ(check->due(check->next_deadline(), false), std::vector<ReplicaId>{ReplicaId(3)});
  check->passed();
  EXPECT_EQ(check->due(now + 10s, false).size(), 1u);
  EXPECT_EQ(check->next_deadline(), LaggingTime::max());
  check->connected(ReplicaId(3));
  EXPECT_EQ(check->due(now + 20s, false), std::vector<ReplicaId>{ReplicaId(3)});
  check->lost(ReplicaId(2));
  EXPECT_FALSE(check->answered(ReplicaId(2))) << "who is there counts";
  check->connected(ReplicaId(2));
  EXPECT_EQ(check->due(now + 30s, false).size(), 2u);
}

// Covers: FLT_M12
TEST_F(Asked, WithoutALeaderThoseWhoHaveAnsweredAreAskedAgainOnceInAnElectionTimeout) {
  LaggingTime now(1s);
  check->connected(ReplicaId(2));
  EXPECT_EQ(check->due(now, true).size(), 1u);
  EXPECT_FALSE(answer({}));
  check->passed();
  EXPECT_TRUE(check->due(now + options.raft.heartbeat_interval, true).empty());
  for (int i = 0; i < 3; ++i) {
    now = check->next_deadline();
    EXPECT_EQ(now, LaggingTime(1s) + (i + 1) * options.raft.election_timeout);
    EXPECT_EQ(check->due(now, true).size(), 1u);
    EXPECT_TRUE(check->due(now, true).empty());
  }
  EXPECT_TRUE(check->due(now + 10s, false).empty());
  EXPECT_EQ(check->next_deadline(), LaggingTime::max());
}

struct AskedOfMembers : Asked {
  raft::Configuration members(std::vector<uint64_t> ids) {
    raft::Configuration configuration;
    for (const uint64_t id : ids) configuration.voters.push_back({ReplicaId(id), StoreId(100 + id), ""});
    return configuration;
  }
  void told(uint64_t by, raft::SettledMembers settled, uint64_t store = 0) {
    const RecallReply reply{check->question(), {}, std::move(settled)};
    const auto no_entries = [](Index) { return std::optional<Term>(); };
    const RollbackCheck::Holds disk{{}, {}, no_entries};
    EXPECT_FALSE(check->answered(ReplicaId(by), StoreId(store ? store : 100 + by), reply, disk));
  }
  Position at{Index(5), Term(2)};  // of the configuration in force
};

// Covers: FLT_M12
TEST_F(AskedOfMembers, AMajorityOfThoseInForceOrOfSettledOnesIsEnough) {
  const auto enough = [&] { return check->enough(members({1, 2, 3}), at); };
  EXPECT_FALSE(enough());
  told(4, {{Index(4), Term(2)}, members({1, 4, 5})});
  EXPECT_FALSE(enough()) << "older members";
  told(4, {{Index(4), Term(3)}, members({1, 4, 5})}, 999);
  EXPECT_FALSE(enough()) << "another disk than the one that is named";
  told(4, {{Index(4), Term(3)}, members({1, 4, 5})});
  EXPECT_TRUE(enough()) << "of a later term";
  told(4, {{Index(5), Term(3)}, members({4, 5, 6})});
  EXPECT_FALSE(enough()) << "the newest that was told counts, and it is one of three there";
  told(2, {});
  EXPECT_TRUE(enough()) << "by a build that names no members";
  check->lost(ReplicaId(2));
  EXPECT_FALSE(enough());
}

// Covers: FLT_M12
TEST_F(AskedOfMembers, AJointConfigurationMayBeOver) {
  raft::Configuration joint = members({1, 4, 5});
  joint.outgoing = members({1, 2, 3}).voters;
  told(4, {at, joint});
  EXPECT_FALSE(check->enough(joint, at)) << "of the outgoing half nobody has answered";
  told(5, {at, members({1, 4, 5})});
  EXPECT_TRUE(check->enough(joint, at));
  told(4, {at, joint});
  EXPECT_TRUE(check->enough(joint, at)) << "and stays over";
}

// Covers: FLT_P15
TEST_F(AskedOfMembers, AReplicaWhoseDiskWasExchangedIsNotCountedAsAMember) {
  raft::Configuration newer = members({1, 2});
  newer.voters.front().store = StoreId(998);
  told(2, {{Index(9), Term(9)}, newer});
  EXPECT_FALSE(check->enough(members({1, 4, 5}), at));
}

// Covers: FLT_S12
TEST_F(AskedOfMembers, AClaimCountsUntilItsAuthorTakesItBackOrAnotherDiskHasItsPlace) {
  const raft::Configuration three = members({1, 2, 3});
  const auto no_entries = [](Index) { return std::optional<Term>(); };
  const RollbackCheck::Holds disk{{}, {}, no_entries};
  const auto claims = [&] {
    const RecallReply lie{check->question(), {.store = StoreId(101), .term = Term(7)}, {}};
    EXPECT_TRUE(check->answered(ReplicaId(2), StoreId(102), lie, disk));
  };
  EXPECT_EQ(check->claim(three, at), "");
  claims();
  EXPECT_NE(check->claim(three, at), "");
  check->lost(ReplicaId(2));
  EXPECT_NE(check->claim(three, at), "") << "it may come back, and be right";
  EXPECT_NE(check->claim(members({1, 3, 4}), at), "") << "it may be a member by entries that are not here";
  raft::Configuration exchanged = three;
  exchanged.voters[1].store = StoreId(999);
  EXPECT_EQ(check->claim(exchanged, at), "");
  told(2, {});
  EXPECT_EQ(check->claim(three, at), "") << "taken back";
  claims();
  told(2, {}, 999);
  EXPECT_EQ(check->claim(three, at), "") << "by the same replica on another disk, too";
}

// A disk that was set back to before the disks of all its peers were exchanged waited for ever.
// Covers: REG_F84 FLT_P15
TEST_F(AskedOfMembers, AClaimCountsIfAnotherOneNamesTheDiskOfItsAuthor) {
  const raft::Configuration three = members({1, 2, 3});
  raft::Configuration exchanged = three;
  exchanged.voters[1].store = StoreId(202);
  exchanged.voters[2].store = StoreId(203);
  const auto no_entries = [](Index) { return std::optional<Term>(); };
  const RollbackCheck::Holds disk{{}, {}, no_entries};
  const auto claims = [&](uint64_t by, Position told_at, const raft::Configuration& told) {
    const RecallReply reply{check->question(), {.store = StoreId(101), .term = Term(7)}, {told_at, told}};
    EXPECT_TRUE(check->answered(ReplicaId(by), StoreId(200 + by), reply, disk));
  };
  const Position newer{Index(9), Term(3)};
  claims(2, newer, exchanged);
  EXPECT_EQ(check->claim(three, at), "") << "nobody but its author names that disk";
  claims(3, Position{Index(4), Term(2)}, exchanged);
  EXPECT_EQ(check->claim(three, newer), "") << "the members here are as new";
  claims(3, newer, exchanged);
  EXPECT_NE(check->claim(three, at).find("replica 2 remembers"), std::string::npos) << check->claim(three, at);
  exchanged.voters[1].store = StoreId(999);
  claims(3, Position{Index(12), Term(4)}, exchanged);
  EXPECT_NE(check->claim(three, at).find("replica 3 remembers"), std::string::npos) << "another disk has the place of 2";
}

// ---- among replicas

struct SetBackTest : ThreeReplicas {
  ReplicaState state(uint64_t id) { return cluster.engine(id).status().state; }
  std::string reason(uint64_t id) { return cluster.engine(id).status().reason; }
  bool becomes(uint64_t id, ReplicaState wanted) {
    return cluster.until([&] { return state(id) == wanted; });
  }
  void lose_answers(std::vector<uint64_t> from) {
    cluster.filter = [from](ReplicaId by, ReplicaId, const Message& message) {
      const bool answer = std::holds_alternative<RecallReply>(message);
      return !answer || std::find(from.begin(), from.end(), by.value()) == from.end();
    };
  }
  // The process continues with the disk as it was.
  void set_back(uint64_t id, const Disk& image) {
    cluster.crash(id);
    cluster.node(id).disk = image;
    cluster.start(id);
  }
};

// Covers: FLT_P15
TEST_F(SetBackTest, UntilAMajorityHasAnsweredARestartedReplicaNeitherVotesNorAcknowledges) {
  cluster.crash(follower);
  lose_answers({leader, third});
  cluster.start(follower);
  cluster.pass(2s);
  EXPECT_EQ(state(follower), ReplicaState::Starting);
  EXPECT_NE(reason(follower).find("a majority of the members"), std::string::npos);
  for (const Outbound& out : cluster.node(follower).sent) {
    const bool recalls = std::holds_alternative<RecallRequest>(out.message) || std::holds_alternative<RecallReply>(out.message);
    EXPECT_TRUE(recalls) << out.message.index();
  }
  lose_answers({leader});  // one answer and itself are two of three
  ASSERT_TRUE(becomes(follower, ReplicaState::Ready));
  EXPECT_TRUE(reason(follower).empty());
  EXPECT_EQ(cluster.run(follower, "add 1"), "1");
}

// Covers: FLT_P15
TEST_F(SetBackTest, ADiskSetBackBeforeAnAcknowledgementIsNoticedByWhoeverRemembers) {
  cluster.crash(third);  // the follower is needed from here on
  const Disk image = cluster.node(follower).disk;
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  set_back(follower, image);
  ASSERT_TRUE(becomes(follower, ReplicaState::Quarantine));
  EXPECT_NE(reason(follower).find("set back to an older state"), std::string::npos) << reason(follower);
  const Ticket call = cluster.submit(follower, "add 1");
  cluster.pass(1s);
  EXPECT_EQ(reason_of(cluster.ended(follower, call).status), Reason::NotReady);
  EXPECT_TRUE(cluster.node(follower).pending.empty());
}

// Covers: FLT_P15
TEST_F(SetBackTest, AVoteIsRememberedByTheCandidate) {
  const Disk image = cluster.node(follower).disk;
  cluster.crash(leader);
  const uint64_t next = cluster.leader();
  const uint64_t voter = next == follower ? third : follower;
  ASSERT_NE(next, 0u);
  Disk old = cluster.node(voter).disk;
  old.hard_state = image.hard_state;  // the vote is forgotten
  old.entries.resize(image.entries.size());
  set_back(voter, old);
  ASSERT_TRUE(becomes(voter, ReplicaState::Quarantine));
}

// The disk knows the term but not the vote in it: it would be given again, to another candidate.
// Covers: FLT_P15
TEST_F(SetBackTest, AVoteInATermThatTheDiskKnowsIsDemandedOfIt) {
  const Disk image = cluster.node(follower).disk;
  cluster.crash(leader);
  const uint64_t next = cluster.leader();
  const uint64_t voter = next == follower ? third : follower;
  ASSERT_NE(next, 0u);
  Disk old = cluster.node(voter).disk;
  ASSERT_EQ(old.hard_state.vote, ReplicaId(next));
  old.hard_state.vote = ReplicaId();
  old.entries.resize(image.entries.size());
  set_back(voter, old);
  ASSERT_TRUE(becomes(voter, ReplicaState::Quarantine));
  EXPECT_NE(reason(voter).find("a vote for replica " + std::to_string(next)), std::string::npos) << reason(voter);
}

// The first append of a term truncates what an older leader had sent, and the log gets shorter: its length proves nothing.
// Covers: FLT_P15 FLT_D10
TEST_F(SetBackTest, ALongerTailOfAnOlderTermIsNoAcknowledgement) {
  cluster.crash(third);
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  ASSERT_EQ(cluster.run(leader, "add 1"), "2");
  Disk old = cluster.node(follower).disk;
  const size_t acknowledged = old.entries.size();
  old.entries.resize(1);
  while (old.entries.size() < acknowledged + 5) {
    raft::Entry& entry = old.entries.emplace_back(old.entries.front());
    entry.index = Index(old.entries.size());
    entry.kind = raft::EntryKind::LeaderStart;
    entry.payload = {};
    entry.content_sum = content_sum(kOnlyGroup, entry.term, entry.index, entry.kind, {});
  }
  set_back(follower, old);
  ASSERT_TRUE(becomes(follower, ReplicaState::Quarantine));
  EXPECT_NE(reason(follower).find("the log here has one of term 1 there"), std::string::npos) << reason(follower);
}

// A leader's disk is one of the majority, though no other replica acknowledges what it holds.
// Covers: FLT_P15
TEST_F(SetBackTest, WhatALeaderCountedOfItsOwnDiskIsRememberedByItsFollowers) {
  cluster.crash(third);
  const Disk image = cluster.node(leader).disk;
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  cluster.pass(200ms);
  ASSERT_EQ(image.hard_state, cluster.node(leader).disk.hard_state) << "neither term nor vote tell";
  set_back(leader, image);
  ASSERT_TRUE(becomes(leader, ReplicaState::Quarantine));
}

// Covers: FLT_P15
TEST_F(SetBackTest, ASecondStartFromTheSameImageIsNoticedByItsNumber) {
  cluster.crash(follower);
  const Disk image = cluster.node(follower).disk;
  cluster.start(follower);
  ASSERT_TRUE(becomes(follower, ReplicaState::Ready));
  Disk copied = image;  // everything it ever sent is there, but not that it was started
  copied.hard_state = cluster.node(follower).disk.hard_state;
  copied.entries = cluster.node(follower).disk.entries;
  set_back(follower, copied);
  ASSERT_TRUE(becomes(follower, ReplicaState::Quarantine));
  EXPECT_NE(reason(follower).find("for the second time"), std::string::npos) << reason(follower);
}

// Covers: FLT_P15
TEST_F(SetBackTest, MarksOutliveTheProcessThatHasThem) {
  const Disk image = cluster.node(follower).disk;
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  ASSERT_EQ(cluster.run(leader, "add 1"), "2");
  cluster.crash(leader);
  cluster.crash(third);
  cluster.crash(follower);
  cluster.node(follower).disk = image;
  cluster.start(leader);
  cluster.start(follower);
  ASSERT_TRUE(becomes(follower, ReplicaState::Quarantine));
  cluster.start(third);
  EXPECT_EQ(cluster.run(third, "add 1"), "3") << "the other two go on";
}

// Covers: FLT_P18
TEST_F(SetBackTest, ACopyOfAnotherReplicasDirectoryIsKnownByItsOwnLog) {
  for (const uint64_t owner : {leader, third}) {
    set_back(follower, cluster.node(owner).disk);
    cluster.pass(2s);
    EXPECT_EQ(state(follower), ReplicaState::Quarantine);
    EXPECT_NE(reason(follower).find("this data directory is that of replica " + std::to_string(owner)), std::string::npos)
        << reason(follower);
    for (const Outbound& out : cluster.node(follower).sent) {
      EXPECT_TRUE(std::holds_alternative<SteppedAside>(out.message)) << "not even a question";
    }
    EXPECT_TRUE(cluster.node(follower).pending.empty());
  }
  EXPECT_EQ(cluster.run(third, "add 1"), "1") << "the other two go on";
}

// Covers: FLT_P15
TEST_F(SetBackTest, ALateAnswerCountsTooAsLongAsTheDiskLacksSomething) {
  const Disk image = cluster.node(follower).disk;
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  bool leader_answers = false;
  cluster.filter = [&](ReplicaId from, ReplicaId, const Message& message) {
    const bool recalls = std::holds_alternative<RecallRequest>(message) || std::holds_alternative<RecallReply>(message);
    return recalls && (leader_answers || from.value() != leader);
  };
  set_back(follower, image);
  cluster.pass(200ms);
  EXPECT_EQ(reason(follower).find("set back"), std::string::npos) << "the third knows of nothing: " << reason(follower);
  leader_answers = true;
  cluster.connect(leader, follower);
  ASSERT_TRUE(becomes(follower, ReplicaState::Quarantine));
}

// Covers: FLT_P15
TEST_F(SetBackTest, ComesBackThroughAReplace) {
  const Disk image = cluster.node(follower).disk;
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  set_back(follower, image);
  ASSERT_TRUE(becomes(follower, ReplicaState::Quarantine));
  cluster.crash(follower);
  cluster.node(follower).disk = {.store = StoreId(999)};
  cluster.start(follower);
  const raft::MemberChange replace{raft::MemberChange::Kind::Replace,
                                   {ReplicaId(follower), StoreId(), "host-" + std::to_string(follower)},
                                   ReplicaId(follower)};
  const Ticket change = cluster.change(leader, {replace});
  ASSERT_TRUE(cluster.until([&] { return cluster.answers(leader, change) > 0; }));
  ASSERT_TRUE(cluster.ended(leader, change).status.ok()) << cluster.ended(leader, change).status;
  ASSERT_TRUE(becomes(follower, ReplicaState::Ready));
}

// Covers: FLT_D10
TEST_F(SetBackTest, ADiskThatLostWhatItHadSyncedIsNoticed) {
  cluster.crash(third);
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  ASSERT_EQ(cluster.run(leader, "add 1"), "2");
  Disk short_log = cluster.node(follower).disk;
  short_log.entries.pop_back();
  set_back(follower, short_log);
  ASSERT_TRUE(becomes(follower, ReplicaState::Quarantine));
}

// The log without its hard state knows the term of its last entry, and no vote. The hard state without its log is no disk of a
// member that was never started, for the genesis is stored before any term.
struct HalfADiskTest : SetBackTest {
  void lose_hard_state(uint64_t id) {
    Disk half = cluster.node(id).disk;
    half.hard_state = {};
    set_back(id, half);
  }
  absl::Status lose_log(uint64_t id) {
    cluster.crash(id);
    Disk& disk = cluster.node(id).disk;
    disk.entries.clear();
    disk.base = {};
    return cluster.try_start(id);
  }
  // A replica that gave a vote in the present term must be known to have forgotten it.
  bool voted(uint64_t id) { return bool(cluster.node(id).disk.hard_state.vote); }
};

// Covers: REG_R87
TEST_F(HalfADiskTest, OneWithoutItsHardStateVotesInNoTermThatItMayHaveVotedIn) {
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  for (const uint64_t id : {follower, third}) ASSERT_TRUE(voted(id)) << id;
  lose_hard_state(follower);
  ASSERT_TRUE(becomes(follower, ReplicaState::Quarantine));
  EXPECT_NE(reason(follower).find("which this disk does not know"), std::string::npos) << reason(follower);
  EXPECT_EQ(cluster.run(leader, "add 1"), "2") << "the others go on";
  cluster.pass(2s);
  EXPECT_TRUE(cluster.node(follower).pending.empty());
}

// Covers: REG_R87
TEST_F(HalfADiskTest, TwoWithoutTheirHardStatesStopAndSaySo) {
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  for (const uint64_t id : {follower, third}) lose_hard_state(id);
  for (const uint64_t id : {follower, third}) {
    ASSERT_TRUE(becomes(id, ReplicaState::Quarantine)) << id;
    EXPECT_NE(reason(id).find("replace this member"), std::string::npos) << reason(id);
  }
  const Ticket call = cluster.submit(leader, "add 1", 2s);
  cluster.pass(10s);
  EXPECT_FALSE(cluster.ended(leader, call).status.ok()) << "no majority is left";
  for (const uint64_t id : {follower, third}) EXPECT_EQ(state(id), ReplicaState::Quarantine) << id;
}

// Covers: REG_R87
TEST_F(HalfADiskTest, AHardStateWithoutItsLogIsRefusedWithOneOrTwoMembers) {
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  for (const uint64_t id : {follower, third}) {
    const absl::Status opened = lose_log(id);
    EXPECT_EQ(reason_of(opened), Reason::Corrupt) << opened;
    EXPECT_NE(opened.message().find("replace this member"), std::string::npos) << opened;
  }
  const Ticket call = cluster.submit(leader, "add 1", 2s);
  cluster.pass(10s);
  EXPECT_FALSE(cluster.ended(leader, call).status.ok()) << "no majority is left";
}

TEST_F(SetBackTest, HonestRestartsOfOneOrAllPass) {
  for (int round = 0; round < 20; ++round) {
    const uint64_t one = static_cast<uint64_t>(round) % 3 + 1;
    cluster.crash(one);
    if (round % 4 == 0) {
      for (uint64_t id = 1; id <= 3; ++id) cluster.crash(id);
      for (uint64_t id = 1; id <= 3; ++id) {
        if (id != one) cluster.start(id);
      }
    }
    cluster.start(one);
    ASSERT_EQ(cluster.run(one, "add 1"), std::to_string(round + 1));
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_TRUE(becomes(id, ReplicaState::Ready)) << reason(id);
  }
}

TEST(RollbackCheckTest, ALoneVoterNeedsNobody) {
  Cluster cluster(1);
  cluster.start(1);
  ASSERT_EQ(cluster.run(1, "add 1"), "1");
  cluster.crash(1);
  cluster.start(1);
  EXPECT_EQ(cluster.run(1, "add 1"), "2");
}

}  // namespace
}  // namespace coordkit::engine

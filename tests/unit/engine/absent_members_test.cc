// Members that were exchanged while a replica was away: started again, it continues with those that there are.
#include <gtest/gtest.h>

#include "raft/log/entry_codec.h"
#include "tests/unit/engine/engine_cluster.h"

namespace coordkit::engine {
namespace {

raft::MemberChange exchanged(uint64_t old, uint64_t id) {
  return {raft::MemberChange::Kind::Replace, {ReplicaId(id), StoreId(), "host-" + std::to_string(id)}, ReplicaId(old)};
}

struct Exchanges {
  explicit Exchanges(size_t size, uint64_t founders, Cluster::Filter filter = {})
      : cluster(size, [founders](EngineOptions& options) {
          std::erase_if(options.members,
                        [&](const Peer& peer) { return peer.id.value() > founders && peer.id != options.raft.self; });
        }) {
    cluster.filter = std::move(filter);
    for (uint64_t id = 1; id <= founders; ++id) cluster.start(id);
    EXPECT_NE(cluster.leader(), 0u);
  }
  absl::Status change(uint64_t id, std::vector<raft::MemberChange> changes) {
    const Ticket ticket = cluster.change(id, std::move(changes), 30s);
    EXPECT_TRUE(cluster.until([&] { return cluster.answers(id, ticket) > 0; }, 60s));
    return cluster.ended(id, ticket).status;
  }
  // Its disk is blank from here on, and its process down.
  void wipe(uint64_t id) {
    cluster.crash(id);
    cluster.node(id).disk = Disk{.store = StoreId(200 + id)};
  }
  // Back on a blank disk, as the same member.
  bool join_anew(uint64_t id, uint64_t asked) {
    cluster.start(id);
    return change(asked, {exchanged(id, id)}).ok() && becomes_ready(id, 30s);
  }
  bool becomes_ready(uint64_t id, Duration limit = 10s) {
    return cluster.until([&] { return state(id) == ReplicaState::Ready; }, limit);
  }
  bool becomes_leader(uint64_t id) {
    if (cluster.leader() != id) cluster.transfer(cluster.leader(), id);
    return cluster.until([&] { return cluster.engine(id).core()->leadership().role == raft::Role::Leader; });
  }
  ReplicaState state(uint64_t id) { return cluster.engine(id).status().state; }
  std::string reason(uint64_t id) { return cluster.engine(id).status().reason; }
  Cluster cluster;
};

// 3 was down while 1 and 2 were exchanged, one after the other, as the runbook says.
// Covers: FLT_M12
TEST(AbsentMembersTest, AVoterThatWasAwayWhileTheOthersWereExchangedComesBack) {
  Exchanges h(5, 3);
  Cluster& cluster = h.cluster;
  ASSERT_TRUE(h.becomes_ready(3));
  ASSERT_EQ(cluster.run(1, "add 1"), "1");
  cluster.crash(3);
  cluster.start(4);
  cluster.start(5);
  ASSERT_TRUE(h.change(2, {exchanged(1, 4)}).ok());
  cluster.pass(1s);
  cluster.crash(1);
  ASSERT_TRUE(h.change(4, {exchanged(2, 5)}).ok());
  cluster.pass(1s);
  cluster.crash(2);
  ASSERT_EQ(cluster.run(4, "add 1"), "2");
  cluster.start(3);
  cluster.pass(60s);
  EXPECT_EQ(h.state(3), ReplicaState::Ready) << h.reason(3);
  EXPECT_EQ(cluster.run(4, "add 1"), "3");
  // With 3 up, the loss of 5 should not stop {3, 4, 5}.
  cluster.crash(5);
  EXPECT_EQ(cluster.run(4, "add 1"), "4");
}

// A wiped disk of 3 is replaced under its id after 1 and 2 were; the new process is restarted before the state arrived.
// Covers: FLT_M12
TEST(AbsentMembersTest, ANewDiskThatIsRestartedBeforeItsStateArrivedGoesOn) {
  Exchanges h(3, 3);
  Cluster& cluster = h.cluster;
  ASSERT_EQ(cluster.run(1, "add 1"), "1");
  for (const uint64_t id : {1, 2}) {
    h.wipe(id);
    ASSERT_NE(cluster.leader(), 0u);
    ASSERT_TRUE(h.join_anew(id, 3));
  }
  h.wipe(3);
  ASSERT_NE(cluster.leader(), 0u);
  cluster.filter = [](ReplicaId, ReplicaId to, const Message& message) {
    return to != ReplicaId(3) || std::holds_alternative<GenesisOffer>(message);
  };
  cluster.start(3);
  const Ticket ticket = cluster.change(1, {exchanged(3, 3)}, 600s);
  ASSERT_TRUE(cluster.until([&] { return cluster.engine(3).core() != nullptr; }, 30s));
  cluster.crash(3);
  cluster.start(3);
  cluster.filter = {};
  cluster.pass(120s);
  EXPECT_EQ(h.state(3), ReplicaState::Ready) << h.reason(3);
  EXPECT_EQ(cluster.answers(1, ticket), 1u);
}

// One machine is exchanged while 3 is down; then 2 fails and 3 is started: 3 and 4 are a majority of {2, 3, 4}.
// Covers: FLT_M12
TEST(AbsentMembersTest, OneExchangeWhileAVoterIsDownAndThenOneFailure) {
  Exchanges h(4, 3);
  Cluster& cluster = h.cluster;
  ASSERT_TRUE(h.becomes_ready(3));
  ASSERT_EQ(cluster.run(1, "add 1"), "1");
  cluster.crash(3);
  cluster.start(4);
  ASSERT_TRUE(h.change(2, {exchanged(1, 4)}).ok());
  cluster.pass(1s);
  cluster.crash(1);
  ASSERT_EQ(cluster.run(4, "add 1"), "2");
  cluster.crash(2);
  cluster.start(3);
  EXPECT_TRUE(cluster.until([&] { return h.state(4) == ReplicaState::Ready && h.state(3) == ReplicaState::Ready; }, 120s))
      << "3: " << h.reason(3) << "\n4: " << h.reason(4);
  EXPECT_EQ(cluster.run(4, "add 1"), "3");
}

// The disk of 5 is exchanged while 3 is down. Then the power fails, and 1 and 2 do not come back: 3, 4 and 5 are a majority.
// Covers: FLT_M12
TEST(AbsentMembersTest, ADiskIsExchangedWhileAnotherIsDownAndThenThePowerFails) {
  Exchanges h(5, 5);
  Cluster& cluster = h.cluster;
  ASSERT_TRUE(h.becomes_ready(3));
  ASSERT_EQ(cluster.run(1, "add 1"), "1");
  cluster.crash(3);
  h.wipe(5);
  ASSERT_TRUE(h.join_anew(5, 1));
  ASSERT_EQ(cluster.run(5, "add 1"), "2");
  cluster.pass(1s);
  for (const uint64_t id : {1, 2, 4, 5}) cluster.crash(id);
  for (const uint64_t id : {3, 4, 5}) cluster.start(id);
  EXPECT_TRUE(cluster.until([&] { return h.state(4) == ReplicaState::Ready && h.state(5) == ReplicaState::Ready; }, 120s))
      << "3: " << h.reason(3) << "\n4: " << h.reason(4) << "\n5: " << h.reason(5);
  EXPECT_EQ(cluster.run(4, "add 1"), "3");
}

// 3 runs, but is cut off, while the disks of 2 and 5 are exchanged. Then 1 and 4 fail: 3 is needed, and only those with a new
// disk can be elected.
// Covers: FLT_M12
TEST(AbsentMembersTest, AVoterThatWasCutOffHearsACandidateThatHasANewDisk) {
  Exchanges h(5, 5);
  Cluster& cluster = h.cluster;
  ASSERT_TRUE(h.becomes_ready(3));
  for (const uint64_t id : {2, 5}) {
    cluster.filter = [](ReplicaId from, ReplicaId to, const Message&) { return from != ReplicaId(3) && to != ReplicaId(3); };
    h.wipe(id);
    ASSERT_TRUE(cluster.until([&] { return h.state(1) == ReplicaState::Ready || h.state(4) == ReplicaState::Ready; }));
    ASSERT_TRUE(h.join_anew(id, 1));
  }
  ASSERT_EQ(cluster.run(1, "add 1"), "1");
  cluster.crash(1);
  cluster.crash(4);
  cluster.filter = {};
  for (const uint64_t id : {2, 5}) {
    cluster.connect(id, 3);
    cluster.connect(3, id);
  }
  EXPECT_TRUE(cluster.until([&] { return h.state(3) == ReplicaState::Ready && h.state(2) == ReplicaState::Ready; }, 60s))
      << "2: " << h.reason(2) << "\n3: " << h.reason(3);
  EXPECT_EQ(cluster.run(3, "add 1"), "2");
}

// The disk of 3 is set back to when 1, 2 and 3 were members; 4 and 5 have taken the places of 1 and 2 and remember nothing of
// it. 2 has missed that. Together 2 and 3 are a majority of the former members, and must not elect anybody.
// Covers: FLT_P15
TEST(AbsentMembersTest, AReplicaThatNewerMembersCheckedElectsNoLeaderOfOlderMembers) {
  Exchanges h(5, 3);
  Cluster& cluster = h.cluster;
  const uint64_t first = cluster.leader();
  const uint64_t second = first == 2 ? 1 : 2;  // of 1 and 2 the one that does not lead
  if (first == 3) {
    const Ticket ticket = cluster.transfer(3, 1);
    ASSERT_TRUE(cluster.until([&] { return cluster.answers(3, ticket) > 0 && cluster.leader() == 1; }));
  }
  const uint64_t leader = cluster.leader();
  ASSERT_EQ(cluster.run(leader, "add 1"), "1");
  cluster.pass(1s);
  const Disk image = cluster.node(3).disk;
  const auto cut_off = [second](ReplicaId id) { return id == ReplicaId(second); };
  const auto new_one = [](ReplicaId id) { return id.value() > 3; };
  cluster.filter = [&](ReplicaId from, ReplicaId to, const Message&) {  // 3 acknowledges to the old leader alone
    const bool between = (from == ReplicaId(3) && new_one(to)) || (new_one(from) && to == ReplicaId(3));
    return !cut_off(from) && !cut_off(to) && !between;
  };
  cluster.start(4);
  cluster.start(5);
  ASSERT_TRUE(h.change(leader, {exchanged(leader, 4), exchanged(second, 5)}).ok());
  cluster.crash(3);
  cluster.crash(leader);
  ASSERT_EQ(cluster.run(4, "add 1"), "2");
  cluster.node(3).disk = image;
  // 4 and 5 answer 3, and that is all it hears of them.
  cluster.filter = [&](ReplicaId from, ReplicaId to, const Message& message) {
    const bool among_old = (cut_off(from) && to == ReplicaId(3)) || (cut_off(to) && from == ReplicaId(3));
    const bool among_new = new_one(from) && new_one(to);
    const bool recalls = std::holds_alternative<RecallRequest>(message) || std::holds_alternative<RecallReply>(message);
    return among_old || among_new || (recalls && !cut_off(from) && !cut_off(to));
  };
  cluster.start(3);
  cluster.pass(60s);
  ASSERT_NE(cluster.engine(3).core(), nullptr) << h.reason(3);
  ASSERT_TRUE(cluster.engine(3).core()->rollback_checked()) << h.reason(3);
  EXPECT_FALSE(cluster.engine(second).core()->leadership().leader);
  EXPECT_FALSE(cluster.engine(3).core()->leadership().leader);
  EXPECT_EQ(cluster.run(4, "add 1"), "3");
  cluster.filter = {};
  EXPECT_TRUE(h.becomes_ready(3, 60s)) << h.reason(3);
}

// 3 is cut off from 1 and 4 only. It is connected with the new disks of 2 and 5, and asked them when they knew of no exchange.
// Covers: FLT_M12
TEST(AbsentMembersTest, AVoterThatIsCutOffFromSomeHearsACandidateThatHasANewDisk) {
  Exchanges h(5, 5);
  Cluster& cluster = h.cluster;
  ASSERT_TRUE(h.becomes_ready(3));
  ASSERT_TRUE(h.becomes_leader(1));
  cluster.filter = [](ReplicaId from, ReplicaId to, const Message& message) {
    const auto old = [](ReplicaId id) { return id == ReplicaId(1) || id == ReplicaId(4); };
    const bool cut = (from == ReplicaId(3) && old(to)) || (to == ReplicaId(3) && old(from));
    const bool answer = std::holds_alternative<RecallReply>(message) && to != ReplicaId(3);
    return !cut && !answer;
  };
  for (const uint64_t id : {2, 5}) {
    h.wipe(id);
    ASSERT_TRUE(h.join_anew(id, 1));
  }
  ASSERT_EQ(cluster.run(1, "add 1"), "1");
  cluster.crash(1);
  cluster.crash(4);
  cluster.filter = {};
  cluster.pass(60s);
  EXPECT_EQ(h.state(2), ReplicaState::Ready) << h.reason(2);
  EXPECT_EQ(h.state(3), ReplicaState::Ready) << h.reason(3);
  EXPECT_EQ(cluster.run(3, "add 1"), "2");
}

// 3 learns that a joint configuration is over, and then gets its entry, but not yet its end.
TEST(AbsentMembersTest, ALeavingMemberIsAMemberAgainWhileItsLogEndsWithTheJointConfiguration) {
  Exchanges h(4, 3);
  Cluster& cluster = h.cluster;
  ASSERT_TRUE(h.becomes_ready(3));
  ASSERT_TRUE(h.becomes_leader(1));
  ASSERT_EQ(cluster.leader(), 1u);
  cluster.filter = [](ReplicaId from, ReplicaId to, const Message&) { return from != ReplicaId(3) && to != ReplicaId(3); };
  cluster.start(4);
  ASSERT_TRUE(h.change(1, {exchanged(2, 4)}).ok());
  cluster.pass(1s);
  const std::vector<raft::Entry> entries = cluster.node(4).disk.entries;
  size_t joint = 0;
  while (entries[joint].kind != raft::EntryKind::Configuration || configuration_of(entries[joint])->outgoing.empty()) ++joint;
  cluster.crash(1);
  cluster.crash(4);
  cluster.filter = [](ReplicaId, ReplicaId, const Message& message) {
    return std::holds_alternative<RecallRequest>(message) || std::holds_alternative<RecallReply>(message);
  };
  cluster.start(4);
  cluster.pass(1s);
  const raft::Core& core = *cluster.engine(3).core();
  ASSERT_EQ(core.configuration_position(), entries[joint].position());
  ASSERT_TRUE(core.configuration().outgoing.empty());
  raft::AppendRequest append{.term = core.leadership().term, .stream = 9, .round = 1};
  append.term = Term(append.term.value() + 5);
  append.previous = entries.front().position();
  append.entries.assign(entries.begin() + 1, entries.begin() + static_cast<ptrdiff_t>(joint) + 1);
  cluster.post(3, MessageReceived{ReplicaId(4), append});
  cluster.run_until_idle();
  ASSERT_FALSE(core.configuration().outgoing.empty());
  EXPECT_TRUE(cluster.node(3).peers.contains(ReplicaId(2)));
  const uint64_t rejected = cluster.engine(3).status().rejected;
  cluster.post(3, MessageReceived{ReplicaId(2), raft::VoteReply{.term = append.term}});
  cluster.run_until_idle();
  EXPECT_EQ(cluster.engine(3).status().rejected, rejected);
}

// 3 was up when the cluster was founded, but went before it heard of it. 4 and 5 have taken the places of 1 and 2, and 5 fails.
// Covers: FLT_M12
TEST(AbsentMembersTest, AFounderThatWasAwayFromTheFirstMomentIsInvitedWhereNobodyLeads) {
  Exchanges h(5, 3, [](ReplicaId, ReplicaId to, const Message&) { return to != ReplicaId(3); });
  Cluster& cluster = h.cluster;
  cluster.crash(3);
  cluster.filter = {};
  ASSERT_TRUE(cluster.node(3).disk.entries.empty());
  for (const uint64_t id : {1, 2}) {
    cluster.start(id + 3);
    ASSERT_TRUE(h.change(cluster.leader(), {exchanged(id, id + 3)}).ok());
    cluster.pass(1s);
    cluster.crash(id);
  }
  ASSERT_EQ(cluster.run(4, "add 1"), "1");
  cluster.crash(5);
  cluster.crash(4);
  cluster.start(4);
  cluster.start(3);
  cluster.pass(60s);
  EXPECT_EQ(h.state(3), ReplicaState::Ready) << h.reason(3);
  EXPECT_EQ(cluster.run(4, "add 1"), "2");
}

}  // namespace
}  // namespace coordkit::engine

// The first start of replicas whose lists of members differ, and the restarts with which an operator corrects it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raft/log/entry_codec.h"
#include "tests/unit/engine/engine_cluster.h"

namespace coordkit::engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Lists = std::map<uint64_t, std::vector<Peer>>;

std::vector<Peer> list(const std::vector<uint64_t>& ids) {
  std::vector<Peer> members;
  for (const uint64_t id : ids) members.push_back({ReplicaId(id), "host-" + std::to_string(id)});
  return members;
}

class DifferingListsTest : public ::testing::Test {
 protected:
  explicit DifferingListsTest(size_t size = 3)
      : cluster(size, [this](EngineOptions& made) {
          const uint64_t id = made.raft.self.value();
          if (lists.contains(id)) made.members = lists.at(id);
          made.new_cluster = ClusterId(1000 * ++drawn + id);  // every start draws another
          if (checkpoint_entries != 0) made.checkpoint_entries = checkpoint_entries;
        }) {}

  void restart_all() {
    for (uint64_t id = 1; id <= 3; ++id) {
      if (cluster.node(id).engine) cluster.crash(id);
    }
    cluster.start_all();
  }
  raft::Genesis genesis(uint64_t id) {
    const Disk& disk = cluster.node(id).disk;
    return disk.entries.empty() ? raft::Genesis() : *decode_genesis(disk.entries.front().payload.view());
  }
  void expect_one_cluster_of(const std::vector<Peer>& members) {
    ASSERT_NE(cluster.leader(), 0u);
    for (const Peer& member : members) {
      const uint64_t id = member.id.value();
      ASSERT_TRUE(cluster.until([&] { return cluster.engine(id).status().state == ReplicaState::Ready; })) << id;
      EXPECT_EQ(genesis(id), genesis(1)) << id;
      EXPECT_THAT(cluster.engine(id).status().differing_lists, IsEmpty()) << id;
    }
    const auto& voters = genesis(1).configuration.voters;
    ASSERT_EQ(voters.size(), members.size());
    for (size_t i = 0; i < voters.size(); ++i) EXPECT_EQ(voters[i].address, members[i].address);
    EXPECT_EQ(cluster.run(1, "add 1"), "1");
  }
  std::vector<std::string> sentences(uint64_t id) { return cluster.engine(id).status().warnings; }
  void nobody_votes() {
    cluster.filter = [](ReplicaId, ReplicaId, const Message& message) {
      return !std::holds_alternative<raft::VoteRequest>(message);
    };
  }

  Lists lists;
  uint64_t drawn = 0;
  uint64_t checkpoint_entries = 0;  // zero: as by default
  Cluster cluster;
};

// Covers: FLT_A19
TEST_F(DifferingListsTest, NoReplicaFoundsAClusterWhileListsDiffer) {
  std::vector<Peer> swapped = list({1, 2, 3});
  std::swap(swapped[1].address, swapped[2].address);
  const std::vector<Lists> slips = {
      {{1, list({1, 2})}},       {{1, swapped}}, {{2, list({1, 2})}, {3, list({1, 3})}}, {{3, list({2, 3})}},
      {{2, list({1, 2, 3, 4})}},
  };
  for (size_t i = 0; i < slips.size(); ++i) {
    SCOPED_TRACE(i);
    for (uint64_t id = 1; id <= 3; ++id) {
      if (cluster.node(id).engine) cluster.crash(id);
      cluster.node(id).disk = {.store = StoreId(100 + id)};
    }
    lists = slips[i];
    cluster.start_all();
    cluster.pass(5s);
    for (uint64_t id = 1; id <= 3; ++id) {
      EXPECT_EQ(cluster.engine(id).status().state, ReplicaState::WaitingForMembers) << id;
      EXPECT_THAT(sentences(id), Contains(HasSubstr("was started with another list of members: it "))) << id;
      EXPECT_THAT(sentences(id), Contains(HasSubstr("give all members one list"))) << id;
      EXPECT_TRUE(cluster.node(id).disk.entries.empty()) << id;
    }
    lists.clear();
    restart_all();
    expect_one_cluster_of(list({1, 2, 3}));
  }
}

// Covers: FLT_A19
TEST_F(DifferingListsTest, TwoNamesOfOneAddressPartNobodyAndAreSaid) {
  lists[2] = list({1, 2, 3});
  lists[2][0].address = "the-first-host";
  cluster.filter = [](ReplicaId, ReplicaId, const Message&) { return false; };
  cluster.start_all();
  cluster.pass(1s);
  EXPECT_THAT(sentences(2),
              Contains(HasSubstr("replica 1 was started with another list of members: it lists replica 1 at another "
                                 "address than the-first-host;")));
  EXPECT_THAT(sentences(1), Contains(HasSubstr("it lists replica 1 at another address than host-1;")));
  cluster.filter = nullptr;
  expect_one_cluster_of(list({1, 2, 3}));
}

// A builder of before says no list, and founds.
class OfAnOlderBuild : public DifferingListsTest {
 protected:
  OfAnOlderBuild() { cluster.says_lists = false; }
};

// Covers: FLT_A19
TEST_F(OfAnOlderBuild, AGenesisThatOnlyItsFounderHasGivesWay) {
  lists[1] = list({1, 2});
  cluster.start_all();
  cluster.pass(5s);
  ASSERT_EQ(genesis(1).configuration.voters.size(), 2u);
  EXPECT_EQ(cluster.engine(1).status().state, ReplicaState::Starting);
  EXPECT_THAT(cluster.engine(1).status().reason, HasSubstr("1 of 2 voters is missing, and the others are no majority"));
  EXPECT_THAT(cluster.engine(1).status().reason, HasSubstr("it has not stored the first entry of this cluster yet"));
  EXPECT_THAT(cluster.engine(2).status().reason,
              HasSubstr("this is the first start of a cluster, and replica 1 was started with "
                        "another list of members: it does not list replica 3 at host-3"));
  cluster.says_lists = true;
  lists.clear();
  restart_all();
  expect_one_cluster_of(list({1, 2, 3}));
}

// Covers: FLT_A19
TEST_F(OfAnOlderBuild, TheFounderSaysWhoseListDiffersOnceThatOneSaysIt) {
  lists[1] = list({1, 2});
  cluster.start_all();
  cluster.pass(5s);
  cluster.says_lists = true;
  restart_all();  // nothing was corrected
  cluster.pass(5s);
  const std::string words = "replica 2 was started with another list of members: it lists replica 3, which this one does not";
  EXPECT_THAT(cluster.engine(1).status().reason, HasSubstr(words));
  EXPECT_THAT(sentences(1), Contains(HasSubstr(words)));
  for (const uint64_t id : {2, 3}) {
    EXPECT_EQ(cluster.engine(id).status().state, ReplicaState::Uninvited);
    EXPECT_THAT(cluster.engine(id).status().reason,
                HasSubstr("it does not list replica 3 at host-3; give all members one list"));
  }
}

// Covers: FLT_A19
TEST_F(OfAnOlderBuild, AGenesisWithWrongAddressesGivesWay) {
  lists[1] = list({1, 2, 3});
  std::swap(lists[1][1].address, lists[1][2].address);
  cluster.filter = [](ReplicaId, ReplicaId, const Message&) { return false; };  // the founder reaches nobody
  cluster.start_all();
  cluster.pass(5s);
  ASSERT_EQ(genesis(1).configuration.voters[1].address, "host-3");
  cluster.filter = nullptr;
  cluster.says_lists = true;
  lists.clear();
  restart_all();
  expect_one_cluster_of(list({1, 2, 3}));
}

// A checkpoint of the state after it, as a rewritten state is.
// Covers: FLT_A19
TEST_F(OfAnOlderBuild, AGenesisGivesWayThoughACheckpointHasItToo) {
  lists[1] = list({1, 2});
  cluster.start_all();
  cluster.pass(1s);
  cluster.engine(1).post(StateRotten{absl::DataLossError("a row does not verify")});
  cluster.pass(1s);
  ASSERT_EQ(cluster.node(1).disk.table.applied().index, Index(1));
  cluster.says_lists = true;
  lists.clear();
  restart_all();
  expect_one_cluster_of(list({1, 2, 3}));
  restart_all();
  ASSERT_NE(cluster.leader(), 0u);
  EXPECT_EQ(cluster.read(1), "1");
}

// The disk has forgotten what it acknowledged by the other genesis, and looks like one that waits for its cluster.
// Covers: FLT_A19 FLT_P15
TEST_F(OfAnOlderBuild, ADiskSetBackToAFormerGenesisAsksAMajority) {
  lists[1] = list({1, 2});
  cluster.start_all();
  cluster.pass(5s);
  const Disk former = cluster.node(1).disk;
  ASSERT_EQ(genesis(1).configuration.voters.size(), 2u);
  cluster.says_lists = true;
  lists.clear();
  restart_all();
  expect_one_cluster_of(list({1, 2, 3}));
  cluster.crash(1);
  const StoreId store = cluster.node(1).disk.store;
  cluster.node(1).disk = former;
  ASSERT_EQ(cluster.node(1).disk.store, store);
  cluster.filter = [](ReplicaId, ReplicaId, const Message& message) { return !std::holds_alternative<RecallReply>(message); };
  cluster.start(1);
  cluster.pass(5s);
  EXPECT_EQ(genesis(1).configuration.voters.size(), 3u) << "it was invited again";
  EXPECT_EQ(cluster.engine(1).status().state, ReplicaState::Starting);
  EXPECT_THAT(cluster.engine(1).status().reason, HasSubstr("what they remember of this disk"));
  EXPECT_EQ(cluster.engine(1).core()->hard_state(), (raft::HardState{Term(1), ReplicaId()})) << "no vote, no acknowledgement";
  cluster.filter = nullptr;
  cluster.pass(2s);
  EXPECT_EQ(cluster.engine(1).status().state, ReplicaState::Quarantine);
}

// It may still give way, and a state after it says nothing that the log does not.
class CheckpointsEachEntry : public OfAnOlderBuild {
 protected:
  CheckpointsEachEntry() { checkpoint_entries = 1; }
};

// Covers: FLT_A19
TEST_F(CheckpointsEachEntry, TheGenesisAloneIsNotCheckpointed) {
  lists[1] = list({1, 2});
  cluster.start_all();
  cluster.pass(5s);
  ASSERT_EQ(genesis(1).configuration.voters.size(), 2u);
  EXPECT_EQ(cluster.node(1).checkpoints_taken, 0u);
  EXPECT_EQ(cluster.node(1).disk.table.applied(), Position());
  cluster.says_lists = true;
  lists.clear();
  restart_all();
  ASSERT_NE(cluster.leader(), 0u);
  for (uint64_t id = 1; id <= 3; ++id) {
    EXPECT_TRUE(cluster.until([&] { return cluster.engine(id).status().state == ReplicaState::Ready; })) << id;
    EXPECT_TRUE(cluster.until([&] { return cluster.node(id).disk.table.applied().index > Index(1); })) << "later entries are";
  }
  EXPECT_EQ(cluster.run(1, "add 1"), "1");
}

// Covers: FLT_A19
TEST_F(OfAnOlderBuild, AGenesisDoesNotGiveWayToAListThatLeavesMembersOutAndTheCureIsSaid) {
  lists = {{2, list({1, 2})}, {3, list({1, 3})}};
  cluster.start_all();
  cluster.pass(5s);
  ASSERT_EQ(genesis(1).configuration.voters.size(), 3u);
  cluster.says_lists = true;
  lists = {{1, list({1, 2})}, {2, list({1, 2})}};  // 3 was to be left out
  for (uint64_t id = 1; id <= 3; ++id) cluster.crash(id);
  for (const uint64_t id : {1, 2}) cluster.start(id);
  cluster.pass(5s);
  EXPECT_THAT(sentences(1),
              Contains(HasSubstr("founded, replicas 1, 2 and 3, and these may have a leader; start each of them")));
  EXPECT_EQ(cluster.engine(2).status().state, ReplicaState::Uninvited);
  lists.clear();
  restart_all();
  expect_one_cluster_of(list({1, 2, 3}));
}

// Covers: FLT_A19
TEST_F(DifferingListsTest, AGenesisThatPeersHaveStoredGivesWayAsLongAsNobodyHasVoted) {
  for (const uint64_t id : {1, 2}) lists[id] = list({1, 2});
  nobody_votes();
  for (const uint64_t id : {1, 2}) cluster.start(id);
  cluster.pass(5s);
  for (const uint64_t id : {1, 2}) ASSERT_EQ(cluster.node(id).disk.entries.size(), 1u);
  cluster.filter = nullptr;
  lists.clear();
  restart_all();
  expect_one_cluster_of(list({1, 2, 3}));
}

// Covers: FLT_A19
TEST_F(DifferingListsTest, TheReplicaThatIsCorrectedFirstWaitsForTheOther) {
  for (const uint64_t id : {1, 2}) lists[id] = list({1, 2});
  nobody_votes();
  for (const uint64_t id : {1, 2}) cluster.start(id);
  cluster.pass(1s);
  cluster.crash(1);
  lists.erase(1);
  cluster.start(1);
  cluster.start(3);
  cluster.pass(5s);
  EXPECT_EQ(cluster.engine(1).status().state, ReplicaState::Uninvited);
  EXPECT_THAT(cluster.engine(1).status().reason, HasSubstr("replica 2 was started with another list of members"));
  EXPECT_THAT(sentences(2), Contains(HasSubstr("replica 1 was started with another list of members: it lists replica 3")));
  cluster.crash(2);
  lists.erase(2);
  cluster.filter = nullptr;
  cluster.start(2);
  expect_one_cluster_of(list({1, 2, 3}));
}

// Covers: FLT_A19
TEST_F(DifferingListsTest, AGenesisForWhichAVoteWasCastStays) {
  for (const uint64_t id : {1, 2}) lists[id] = list({1, 2});
  for (const uint64_t id : {1, 2}) cluster.start(id);
  expect_one_cluster_of(list({1, 2}));
  const raft::Genesis before = genesis(1);
  lists.clear();
  restart_all();
  ASSERT_NE(cluster.leader(), 0u);
  EXPECT_EQ(cluster.read(1), "1");
  for (const uint64_t id : {1, 2}) EXPECT_EQ(genesis(id), before);
  EXPECT_EQ(cluster.engine(3).status().state, ReplicaState::Uninvited);
  EXPECT_THAT(cluster.engine(3).status().reason, HasSubstr("add it with change_membership"));
}

// The vote may have been the candidate's own, and nobody leads.
// Covers: FLT_A19
TEST_F(DifferingListsTest, AReplicaThatGaveWayIsInvitedBackByOneThatHasVoted) {
  for (const uint64_t id : {1, 2}) lists[id] = list({1, 2});
  cluster.filter = [](ReplicaId, ReplicaId, const Message& message) {
    const auto* request = std::get_if<raft::VoteRequest>(&message);
    return !request || request->kind == raft::VoteKind::Pre;
  };
  for (const uint64_t id : {1, 2}) cluster.start(id);
  const auto term = [&](uint64_t id) { return cluster.node(id).disk.hard_state.term; };
  ASSERT_TRUE(cluster.until([&] { return std::max(term(1), term(2)) > Term(1) && std::min(term(1), term(2)) == Term(1); }));
  cluster.filter = nullptr;
  lists.clear();
  for (const uint64_t id : {1, 2}) cluster.crash(id);
  cluster.start_all();
  expect_one_cluster_of(list({1, 2}));
  EXPECT_EQ(cluster.engine(3).status().state, ReplicaState::Uninvited);
}

// 2 and 3 have a leader, and 1 has stored the genesis and nothing else.
class WentOnWithoutTheFounder : public DifferingListsTest {
 protected:
  void SetUp() override {
    cluster.filter = [](ReplicaId from, ReplicaId to, const Message& message) {
      const bool founder = from == ReplicaId(1) || to == ReplicaId(1);
      return !founder || std::holds_alternative<GenesisOffer>(message);
    };
    cluster.start_all();
    ASSERT_TRUE(cluster.until([&] { return cluster.engine(2).status().state == ReplicaState::Ready; }));
    ASSERT_EQ(cluster.run(2, "add 1"), "1");
    ASSERT_EQ(cluster.node(1).disk.hard_state.term, Term(1));
    cluster.crash(1);
    cluster.filter = nullptr;
  }
  void expect_one_cluster() {
    EXPECT_TRUE(cluster.until([&] { return cluster.engine(1).status().state == ReplicaState::Ready; }));
    EXPECT_EQ(cluster.read(1), "1");
    EXPECT_EQ(genesis(1), genesis(2));
  }
};

// Covers: FLT_A19
TEST_F(WentOnWithoutTheFounder, ItFoundsNothingWithAListThatLeavesThemOut) {
  lists[1] = list({1});
  cluster.filter = [](ReplicaId from, ReplicaId to, const Message&) { return from != ReplicaId(1) && to != ReplicaId(1); };
  cluster.start(1);
  cluster.pass(5s);
  EXPECT_EQ(cluster.engine(1).status().state, ReplicaState::Starting);
  EXPECT_THAT(sentences(1),
              Contains(HasSubstr("founded, replicas 1, 2 and 3, and these may have a leader; start each of them")));
  cluster.filter = nullptr;
  expect_one_cluster();
}

// Covers: FLT_A19
TEST_F(WentOnWithoutTheFounder, TheOthersInviteTheFounderBackWithAnyList) {
  lists[1] = list({1, 2, 3, 4});
  cluster.start(1);
  EXPECT_EQ(cluster.engine(1).core(), nullptr);
  expect_one_cluster();
}

// Covers: FLT_A19
TEST_F(DifferingListsTest, ACrashBeforeTheOtherGenesisIsDurableLeavesTheFormerOne) {
  for (const uint64_t id : {1, 2}) lists[id] = list({1, 2});
  nobody_votes();
  for (const uint64_t id : {1, 2}) cluster.start(id);
  cluster.pass(1s);
  const raft::Genesis former = genesis(1);
  for (const uint64_t id : {1, 2}) cluster.crash(id);
  lists.clear();
  cluster.node(1).syncs = false;
  cluster.start_all();
  cluster.run_until_idle();
  ASSERT_FALSE(cluster.node(1).pending.empty());
  EXPECT_EQ(cluster.node(1).pending.front().truncate_after, Index());
  cluster.crash(1);
  EXPECT_EQ(genesis(1), former);
  cluster.node(1).syncs = true;
  cluster.filter = nullptr;
  cluster.start(1);
  expect_one_cluster_of(list({1, 2, 3}));
}

}  // namespace
}  // namespace coordkit::engine

// Two disks of three are set back while the third is cut off: the two begin another history. Beyond what is promised, and still
// the third must say so, acknowledge nothing of it and answer nothing from its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/apply/divergence.h"
#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Eq;
using ::testing::HasSubstr;

class TwoHistories : public ThreeReplicas, public ::testing::WithParamInterface<bool> {
 protected:
  // With true the log before the newest checkpoint is forgotten at once.
  TwoHistories()
      : ThreeReplicas([](EngineOptions& options) {
          if (!GetParam()) return;
          options.checkpoint_entries = 4;
          options.raft.log_retained_bytes = 0;
          options.raft.log_pinned_bytes = 0;
        }) {}

  // What the sound replica has at the end is a state with total 10; the other two go on from total 1, without it.
  void SetUp() override {
    ThreeReplicas::SetUp();
    sound = leader;
    ASSERT_EQ(cluster.run(sound, "add 1"), "1");
    cluster.pass(1s);
    const Disk images[] = {cluster.node(follower).disk, cluster.node(third).disk};
    for (int i = 2; i <= 10; ++i) ASSERT_EQ(cluster.run(sound, "add 1"), std::to_string(i));
    cluster.pass(1s);
    isolate(sound);
    for (const uint64_t id : {follower, third}) {
      cluster.crash(id);
      cluster.node(id).disk = images[id == follower ? 0 : 1];
    }
    for (const uint64_t id : {follower, third}) cluster.start(id);
    ASSERT_TRUE(cluster.until([&] { return led_by_the_others() != 0; }));
  }
  uint64_t led_by_the_others() {
    for (const uint64_t id : {follower, third}) {
      const raft::Leadership now = cluster.engine(id).leadership();
      if (now.role == raft::Role::Leader && cluster.engine(id).status().state == ReplicaState::Ready) return id;
    }
    return 0;
  }
  void heal() {
    cluster.filter = nullptr;
    for (const uint64_t id : {follower, third}) {
      cluster.connect(sound, id);
      cluster.connect(id, sound);
    }
  }

  uint64_t sound = 0;
};

// Covers: FLT_P27
TEST_P(TwoHistories, TheSoundReplicaStepsAsideAndEveryOneSaysWhy) {
  const uint64_t other = led_by_the_others();
  ASSERT_EQ(cluster.run(other, "add 100"), "101");
  heal();
  ASSERT_TRUE(cluster.until([&] { return cluster.engine(sound).status().state == ReplicaState::Quarantine; }));
  const std::string reason = cluster.engine(sound).status().reason;
  EXPECT_THAT(reason,
              AllOf(HasSubstr("replica " + std::to_string(other) + " is the leader of term"), HasSubstr("docs/operations.md")));
  cluster.run_until_idle();
  for (const uint64_t id : {follower, third}) {
    EXPECT_THAT(cluster.engine(id).status().warnings, Contains(HasSubstr(reason))) << id;
  }
  const Ticket read = cluster.ask(sound, "total", Consistency::Linearizable, 1s);
  cluster.pass(2s);
  EXPECT_FALSE(cluster.ended(sound, read).status.ok());
}

// The sound replica hears of the new leader, and its append is late.
// Covers: FLT_P27
TEST_P(TwoHistories, NoLinearizableReadIsAnsweredFromTheOtherHistory) {
  const uint64_t other = led_by_the_others();
  heal();
  cluster.filter = [this](ReplicaId, ReplicaId to, const Message& message) {
    return to.value() != sound || !std::holds_alternative<raft::AppendRequest>(message);
  };
  ASSERT_TRUE(cluster.until([&] { return cluster.engine(sound).leadership().leader == ReplicaId(other); }));
  const Ticket read = cluster.ask(sound, "total", Consistency::Linearizable, 1s);
  cluster.pass(2s);
  EXPECT_FALSE(cluster.ended(sound, read).status.ok());
}

// One directory is copied, and the network is cut. The original elects a leader on one side, its copy another one on the other
// side, in one term. With true the first leader is restarted before the sides meet, so that only entries show what happened.
class TwoLeadersOfOneTerm : public ThreeReplicas, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    ThreeReplicas::SetUp();
    copied = leader, first = follower, second = third;
    ASSERT_EQ(cluster.run(copied, "add 1"), "1");
    cluster.pass(1s);
    isolate(second);
    const Disk copy = cluster.node(copied).disk;
    const Ticket moved = cluster.transfer(copied, first);
    ASSERT_TRUE(cluster.until([&] { return cluster.answers(copied, moved) == 1; }));
    const Term term = cluster.engine(first).leadership().term;
    for (int i = 1; i <= 4; ++i) ASSERT_EQ(cluster.run(first, "add 1"), std::to_string(1 + i));
    cluster.pass(1s);
    cluster.crash(copied);
    const Disk original = cluster.node(copied).disk;

    cluster.node(copied).disk = copy;
    cluster.filter = [this](ReplicaId from, ReplicaId to, const Message& message) {
      const bool campaigns = from.value() == copied && std::holds_alternative<raft::VoteRequest>(message);
      return from.value() != first && to.value() != first && !campaigns;
    };
    cluster.start(copied);
    ASSERT_TRUE(cluster.until([&] { return cluster.engine(second).leadership().role == raft::Role::Leader; }));
    ASSERT_EQ(cluster.engine(second).leadership().term, term);
    for (int i = 1; i <= 4; ++i) ASSERT_EQ(cluster.run(second, "add 100"), std::to_string(1 + 100 * i));

    cluster.crash(copied);
    cluster.node(copied).disk = original;
    if (GetParam()) cluster.crash(first);
    cluster.filter = nullptr;
    cluster.start(copied);
    if (GetParam()) cluster.start(first);
    for (const uint64_t id : {copied, first, second}) {
      for (const uint64_t peer : {copied, first, second}) {
        if (peer != id) cluster.connect(id, peer);
      }
    }
  }

  uint64_t copied = 0, first = 0, second = 0;
};

// Covers: FLT_P27
TEST_P(TwoLeadersOfOneTerm, OneHistoryIsAnsweredThoughAllPositionsAreEqual) {
  std::vector<std::pair<uint64_t, Ticket>> reads;
  for (int i = 0; i < 20; ++i) {
    for (const uint64_t id : {copied, first, second}) {
      reads.emplace_back(id, cluster.ask(id, "total", Consistency::Linearizable, 1s));
    }
    cluster.pass(500ms);
  }
  cluster.pass(2s);
  std::set<std::string> answers;
  for (const auto& [id, ticket] : reads) {
    const Completion read = cluster.ended(id, ticket);
    if (read.status.ok()) answers.emplace(read.bytes.view());
  }
  EXPECT_LE(answers.size(), 1u) << ::testing::PrintToString(answers);
  std::vector<std::string> words;
  for (const uint64_t id : {copied, first, second}) {
    const EngineStatus status = cluster.engine(id).status();
    if (status.state == ReplicaState::Quarantine) words.push_back(status.reason);
  }
  EXPECT_THAT(words, Contains(AllOf(HasSubstr("that entry has other contents"), HasSubstr("docs/operations.md"))));
}

INSTANTIATE_TEST_SUITE_P(TheFirstOne, TwoLeadersOfOneTerm, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "IsRestarted" : "Stays"; });

INSTANTIATE_TEST_SUITE_P(Log, TwoHistories, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Compacted" : "Whole"; });

TEST(ContradictionTest, TheSentenceNamesBothPositions) {
  const raft::Contradiction known{ReplicaId(2), Term(9), {Index(51), Term(9)}, {Index(51), Term(5)}};
  EXPECT_THAT(why_aside(known), AllOf(HasSubstr("replica 2 is the leader of term 9"), HasSubstr("entry 51 of term 9"),
                                      HasSubstr("entry 51 of term 5 is committed there")));
  const raft::Contradiction before{ReplicaId(2), Term(9), {Index(51), Term(9)}, {Index(60), Term(5)}};
  EXPECT_THAT(why_aside(before), HasSubstr("everything up to entry 60 of term 5 is committed"));
  EXPECT_LE(why_aside(before).size(), kSteppedAsideBytesMax);
  EXPECT_THAT(why_aside({ReplicaId(2), Term(9), {Index(51), Term()}, {Index(60), Term(5)}}),
              HasSubstr("its log ends at entry 51, but in the log of this replica everything up to entry 60 of term 5"));
  EXPECT_THAT(why_aside({ReplicaId(2), Term(9), {Index(51), Term(5)}, {Index(51), Term(5)}}),
              HasSubstr("has entry 51 of term 5, but in the log of this replica that entry has other contents"));
}

}  // namespace
}  // namespace coordkit::engine

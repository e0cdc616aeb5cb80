// Builds of different feature levels in one cluster: the initial level of a cluster, when it is raised, and who is refused.
#include <gmock/gmock.h>

#include "coordkit/error.h"
#include "engine/apply/log_command.h"
#include "engine/apply/router.h"
#include "tests/unit/engine/engine_cluster.h"

namespace coordkit::engine {
namespace {

using testing::HasSubstr;

struct FeatureLevelTest : ::testing::Test {
  std::map<uint64_t, uint64_t> speaks;  // by replica; not listed: 1
  Cluster cluster{3, [this](EngineOptions& options) {
                    const auto listed = speaks.find(options.raft.self.value());
                    options.feature_level = listed == speaks.end() ? 1 : listed->second;
                  }};
  EngineStatus status(uint64_t id) { return cluster.engine(id).status(); }
  bool ready(uint64_t id) {
    return cluster.until([&] { return status(id).state == ReplicaState::Ready; });
  }
  bool all_at(uint64_t level) {
    return cluster.until([&] {
      return status(1).feature_level == level && status(2).feature_level == level && status(3).feature_level == level;
    });
  }
  void restart_as(uint64_t id, uint64_t level) {
    cluster.crash(id);
    speaks[id] = level;
    cluster.start(id);
  }
  // Entries in the log of `id` that raise the level.
  size_t raises(uint64_t id) {
    size_t count = 0;
    for (const raft::Entry& entry : cluster.node(id).disk.entries) {
      if (entry.kind != raft::EntryKind::Command) continue;
      const auto command = decode_command(entry.payload.view());
      if (command.ok() && std::holds_alternative<RaiseLevel>(*command)) ++count;
    }
    return count;
  }
};

// Covers: FLT_V01
TEST_F(FeatureLevelTest, ANewClusterBeginsAtTheLowestLevelOfItsFoundersWithoutAnEntry) {
  speaks = {{1, 3}, {2, 2}, {3, 3}};
  cluster.start_all();
  ASSERT_TRUE(ready(1) && ready(2) && ready(3));
  cluster.pass(10s);
  EXPECT_TRUE(all_at(2));
  EXPECT_EQ(raises(1), 0u);
}

// Covers: FLT_V01
TEST_F(FeatureLevelTest, TheLevelIsRaisedOnceTheLastMemberSpeaksIt) {
  speaks = {{1, 0}, {2, 0}, {3, 0}};
  cluster.start_all();
  ASSERT_TRUE(ready(1) && ready(2) && ready(3));
  for (const uint64_t id : {1, 2}) {
    restart_as(id, 2);
    ASSERT_TRUE(ready(id));
    cluster.pass(10s);
    EXPECT_TRUE(all_at(0)) << "the third still speaks nothing else";
  }
  restart_as(3, 1);
  EXPECT_TRUE(all_at(1)) << "the lowest of all";
  EXPECT_EQ(cluster.run(3, "add 3"), "3");
  restart_as(3, 2);
  EXPECT_TRUE(all_at(2));
  cluster.pass(10s);
  EXPECT_EQ(raises(cluster.leader()), 2u) << "each step once";
}

// Covers: FLT_V01
TEST_F(FeatureLevelTest, NothingIsRaisedWithoutAMemberThatIsAway) {
  speaks = {{1, 0}, {2, 0}, {3, 0}};
  cluster.start_all();
  ASSERT_TRUE(ready(1) && ready(2) && ready(3));
  cluster.crash(3);
  restart_as(1, 1);
  ASSERT_TRUE(ready(1));
  restart_as(2, 1);
  ASSERT_TRUE(ready(1) && ready(2));
  cluster.pass(30s);
  EXPECT_EQ(status(1).feature_level, 0u) << "who is away may come back as what it was";
  cluster.start(3);
  ASSERT_TRUE(ready(3));
  EXPECT_EQ(cluster.run(3, "add 1"), "1");
  EXPECT_EQ(status(3).feature_level, 0u);
}

// Covers: FLT_V01
TEST_F(FeatureLevelTest, AnOlderBuildIsRefusedByItsOwnLogOnceTheLevelWasRaised) {
  speaks = {{1, 0}, {2, 0}, {3, 0}};
  cluster.start_all();
  ASSERT_TRUE(ready(1) && ready(2) && ready(3));
  for (const uint64_t id : {1, 2}) {
    restart_as(id, 1);
    ASSERT_TRUE(ready(id));
  }
  restart_as(1, 0);  // nothing was raised: a downgrade is possible
  ASSERT_TRUE(ready(1));
  for (const uint64_t id : {1, 3}) {
    restart_as(id, 1);
    ASSERT_TRUE(ready(id));
  }
  ASSERT_TRUE(all_at(1));
  cluster.crash(2);
  speaks[2] = 0;
  const absl::Status refused = cluster.try_start(2);
  EXPECT_EQ(reason_of(refused), Reason::NewerFormat);
  EXPECT_THAT(sentence_of(refused), HasSubstr("feature level 1, and this build speaks 0: start a newer build"));
  speaks[2] = 1;
  ASSERT_TRUE(cluster.try_start(2).ok()) << "nothing was changed by the refusal";
  EXPECT_TRUE(ready(2));
}

// Covers: FLT_V01
TEST_F(FeatureLevelTest, AnOlderBuildWhoseLogDoesNotKnowYetIsNotHeardAndTheOthersSayWhy) {
  speaks = {{1, 0}, {2, 0}, {3, 0}};
  cluster.start_all();
  ASSERT_TRUE(ready(1) && ready(2) && ready(3));
  constexpr uint64_t lost = 3;
  for (const uint64_t id : {1, 2}) {
    restart_as(id, 1);
    ASSERT_TRUE(ready(1) && ready(2) && ready(3));
  }
  cluster.filter = [](ReplicaId, ReplicaId to, const Message& message) {
    return to.value() != lost || !std::holds_alternative<raft::AppendRequest>(message);
  };
  restart_as(lost, 1);
  const uint64_t other = lost % 3 + 1;
  ASSERT_TRUE(cluster.until([&] { return status(other).feature_level == 1; }));
  restart_as(lost, 0);
  cluster.filter = nullptr;
  cluster.pass(20s);
  EXPECT_NE(status(lost).state, ReplicaState::Ready);
  EXPECT_FALSE(cluster.node(lost).halted) << "it was sent nothing that it cannot read";
  ASSERT_EQ(status(other).missing.size(), 1u);
  EXPECT_THAT(status(other).missing[0].why, HasSubstr("speaks feature level 0, and the cluster is at 1: start a newer build"));
  restart_as(lost, 1);
  EXPECT_TRUE(ready(lost));
  EXPECT_TRUE(all_at(1));
}

// The entry reached it after its downgrade, from a replica that did not know the level yet either.
// Covers: FLT_V02
TEST(FeatureLevelRouterTest, AnEntryOfANewerLevelStopsApplyWithASentence) {
  Router router({});
  router.speak(1);
  RouterOutput output;
  const raft::Entry raise{Index(1), Term(1), raft::EntryKind::Command, 0, SharedBytes(encode(RaiseLevel{2}))};
  EXPECT_THAT(
      [&] { router.apply(std::span(&raise, 1), output); },
      testing::ThrowsMessage<NewerLevel>(HasSubstr("the log after entry 1 is of feature level 2, and this build speaks 1")));
  EXPECT_EQ(router.check_readable(std::span(&raise, 1)).code(), absl::StatusCode::kFailedPrecondition);
  router.speak(2);
  router.apply(std::span(&raise, 1), output);
  EXPECT_EQ(router.feature_level(), 2u);
}

}  // namespace
}  // namespace coordkit::engine

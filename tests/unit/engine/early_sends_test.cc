// The order of a follower: first the write, then the acknowledgement, and only then what no caller waits for.
#include "tests/unit/engine/three_replicas.h"

namespace coordkit::engine {
namespace {

struct EarlySendsTest : ThreeReplicas {
  // Its followers learn of a commit from the next append.
  EarlySendsTest() : ThreeReplicas([](EngineOptions& options) { options.raft.commit_news_delay = 1s; }) {}

  // Commits one command everywhere, then begins another one that the follower has written, but not durably.
  void begin_write() {
    ASSERT_NE(cluster.run(leader, "add 1"), "");
    cluster.run_until_idle();
    applied = cluster.engine(follower).applied();
    cluster.node(follower).syncs = false;
    cluster.node(follower).sent.clear();
    cluster.submit(leader, "add 1");
    cluster.run_until_idle();
    ASSERT_EQ(cluster.node(follower).pending.size(), 1u);
  }
  size_t acknowledgements(const std::vector<Outbound>& sends) const {
    size_t count = 0;
    for (const Outbound& one : sends) count += std::holds_alternative<raft::AppendReply>(one.message) ? 1 : 0;
    return count;
  }

  Index applied;
};

TEST_F(EarlySendsTest, AnAcknowledgementLeavesBeforeTheTurnThatLearnsOfTheWriteAndOnlyOnce) {
  begin_write();
  const WriteNumber number = cluster.node(follower).pending.back().number;
  std::vector<Outbound> sends;
  Engine& engine = cluster.engine(follower);
  engine.take_sends(WriteNumber(number.value() - 1), sends);
  EXPECT_EQ(sends.size(), 0u) << "that write is not durable";
  engine.take_sends(number, sends);
  EXPECT_EQ(acknowledgements(sends), 1u);
  cluster.sync(follower);
  cluster.run_until_idle();
  EXPECT_EQ(acknowledgements(cluster.node(follower).sent), 0u);
}

TEST_F(EarlySendsTest, AFollowerAppliesBehindItsWriteButDoesNotWaitForTheDisk) {
  begin_write();
  EXPECT_EQ(cluster.engine(follower).applied(), applied) << "the write goes first";
  cluster.pass(1ms);
  EXPECT_GT(cluster.engine(follower).applied(), applied);
  EXPECT_EQ(cluster.node(follower).pending.size(), 1u);
}

TEST_F(EarlySendsTest, AFollowerWithCallersOfItsOwnAppliesAtOnce) {
  const Ticket waits = cluster.ask(follower, "total", Consistency::Local, 60s, Index(1'000'000));
  begin_write();
  EXPECT_GT(cluster.engine(follower).applied(), applied);
  EXPECT_EQ(cluster.answers(follower, waits), 0u);
}

}  // namespace
}  // namespace coordkit::engine

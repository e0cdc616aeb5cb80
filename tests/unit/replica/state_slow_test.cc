// A replica that was absent while the others' logs grew: real files, real threads, a state over TCP.
#include <thread>

#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

struct StateTest : ::testing::Test {
  Cluster cluster;

  ReplicaOptions forgetful(uint64_t id) const {
    ReplicaOptions options = cluster.options(id);
    options.checkpoint_entries = 8;
    options.log_retained_bytes = 0;
    return options;
  }
  void SetUp() override {
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_NO_FATAL_FAILURE(cluster.open(forgetful(id)));
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster[id].wait_ready(kPatience), IsOk());
  }
  void work(uint64_t id, int locks) {
    Session session = cluster.session(id);
    for (int i = 0; i < locks; ++i) {
      absl::StatusOr<Grant> grant = session.acquire("lock-" + std::to_string(i), {.timeout = kPatience});
      ASSERT_THAT(grant.status(), IsOk());
      grant->release().IgnoreError();
    }
    ASSERT_THAT(session.close(), IsOk());
  }
  // Equal states at an equal index: without a state from a peer the log would never get there.
  bool level(uint64_t a, uint64_t b) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      const Health one = cluster[a].health();
      const Health other = cluster[b].health();
      if (one.applied == other.applied && one.digest == other.digest) return true;
      std::this_thread::yield();
    }
    return false;
  }
};

TEST_F(StateTest, AReplicaThatWasAwayLongerThanTheLogIsKeptTakesPartAgain) {
  cluster.close(3);
  ASSERT_NO_FATAL_FAILURE(work(1, 100));
  ASSERT_NO_FATAL_FAILURE(cluster.open(forgetful(3)));
  ASSERT_THAT(cluster[3].wait_ready(kPatience), IsOk());
  ASSERT_NO_FATAL_FAILURE(work(3, 3));
  EXPECT_TRUE(level(1, 3));
  cluster.close(3);  // what was installed is there after a restart
  ASSERT_NO_FATAL_FAILURE(cluster.open(forgetful(3)));
  ASSERT_THAT(cluster[3].wait_ready(kPatience), IsOk());
  EXPECT_TRUE(level(1, 3));
}

TEST_F(StateTest, AHoldOnTheOthersOutlivesIt) {
  Session holder = cluster.session(1, 60s);
  absl::StatusOr<Grant> grant = holder.acquire("held");
  ASSERT_THAT(grant.status(), IsOk());
  cluster.close(3);
  ASSERT_NO_FATAL_FAILURE(work(2, 100));
  ASSERT_NO_FATAL_FAILURE(cluster.open(forgetful(3)));
  ASSERT_THAT(cluster[3].wait_ready(kPatience), IsOk());
  Session other = cluster.session(3);
  EXPECT_THAT(other.acquire("held", {.timeout = Duration::zero()}).status(), Is(Reason::Held));
  EXPECT_TRUE(grant->valid());
}

}  // namespace
}  // namespace coordkit::testkit

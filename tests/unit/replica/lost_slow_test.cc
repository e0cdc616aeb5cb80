// The effect of time on a hold. Real deadlines have to pass here, so these are slow; nothing asserts how long it took.
#include <future>
#include <mutex>
#include <stop_token>

#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

TEST(LostTest, AHolderCutOffFromTheMajorityStopsTrustingItsLock) {
  Cluster cluster;
  cluster.open_all();
  Session me = cluster.session(1, 500ms);
  absl::StatusOr<Grant> grant = me.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  std::promise<bool> lost;
  const std::stop_callback on_lost(grant->lost(), [&] { lost.set_value(grant->valid()); });
  cluster.close(2);
  cluster.close(3);
  EXPECT_FALSE(lost.get_future().get());
  EXPECT_FALSE(me.valid());

  // With a majority again it either recovers with the same token or is lost for good; it never has another token.
  cluster.open(2);
  ASSERT_THAT(cluster[1].wait_ready(kPatience), IsOk());
  const absl::StatusOr<bool> still_mine = grant->check();
  if (grant->valid()) {
    EXPECT_TRUE(still_mine.ok() && *still_mine);
  }
}

TEST(LostTest, TheHoldOfAReplicaThatDiedPassesToTheNextInLineAfterItsTtl) {
  Cluster cluster;
  cluster.open_all();
  Session me = cluster.session(1, 500ms);
  Session other = cluster.session(2, 10s);
  absl::StatusOr<Grant> grant = me.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  cluster.close(1);  // without closing the session, which is left to expire
  absl::StatusOr<Grant> next = other.acquire("billing", {.timeout = kPatience});
  ASSERT_THAT(next.status(), IsOk());
  EXPECT_GT(next->token(), grant->token());
  EXPECT_FALSE(grant->valid());
}

}  // namespace
}  // namespace coordkit::testkit

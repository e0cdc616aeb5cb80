// Leases of keys through three real replicas.
#include "coordkit/keys/key_lease.h"

#include <future>

#include "coordkit/coordkit.h"
#include "coordkit/keys/watch.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

class KeyLeaseTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.open_all(); }
  Cluster cluster_;
};

// Covers: S-29 S-30 S-32 S-33
TEST_F(KeyLeaseTest, AKeptLeaseIsSeenEverywhereAndGoesWithItsLastCopy) {
  Leases here(cluster_[1]), there(cluster_[2]);
  Kv kv(cluster_[3]);
  {
    absl::StatusOr<KeyLease> kept = here.keep({.ttl = 30s, .id = LeaseId(7)});
    ASSERT_THAT(kept.status(), IsOk());
    const KeyLease copy = *kept;
    EXPECT_TRUE(copy.valid());
    EXPECT_EQ(copy.ttl(), 30s);
    ASSERT_THAT(kv.put({.key = "service/a", .value = "here", .lease = copy.id()}).status(), IsOk());
    const absl::StatusOr<LeaseDetails> details = there.time_to_live(LeaseId(7), true);
    ASSERT_THAT(details.status(), IsOk());
    EXPECT_EQ(details->lease.keeper, ReplicaId(1));
    EXPECT_EQ(details->lease.keys, std::vector<std::string>{"service/a"});
    EXPECT_GT(details->lease.remaining, 0s);
    EXPECT_LE(details->lease.remaining, 30s);
    EXPECT_THAT(there.keep({.id = LeaseId(7)}).status(), Is(Reason::LeaseExists));
    EXPECT_EQ(there.list()->leases.size(), 1u);
    *kept = KeyLease();
    EXPECT_TRUE(copy.valid()) << "the last copy counts";
  }
  // Posted without waiting; the next call on that replica comes behind it.
  EXPECT_THAT(here.renew(LeaseId(7)).status(), Is(Reason::LeaseNotFound));
  EXPECT_FALSE(kv.get("service/a")->entry);
}

// Covers: S-30 S-31
TEST_F(KeyLeaseTest, AGrantedLeaseIsAnybodysToRenewAndToRevoke) {
  Leases here(cluster_[1]), there(cluster_[2]);
  const absl::StatusOr<GrantedLease> granted = here.grant(60s);
  ASSERT_THAT(granted.status(), IsOk());
  EXPECT_EQ(there.renew(granted->id)->ttl, 60s);
  Kv kv(cluster_[3]);
  ASSERT_THAT(kv.put({.key = "a", .lease = granted->id}).status(), IsOk());
  const absl::StatusOr<RevokedLease> revoked = there.revoke(granted->id);
  ASSERT_THAT(revoked.status(), IsOk());
  EXPECT_EQ(revoked->deleted, 1u);
  EXPECT_THAT(here.revoke(granted->id).status(), Is(Reason::LeaseNotFound));
  EXPECT_THAT(here.time_to_live(granted->id).status(), Is(Reason::LeaseNotFound));
  EXPECT_THAT(here.grant(0s).status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(here.keep({.ttl = Duration::max()}).status(), Is(Reason::TtlTooLarge));
}

// Covers: S-33
TEST_F(KeyLeaseTest, AnUnrenewedLeaseEndsByItselfWithItsKeys) {
  Leases leases(cluster_[1]);
  Kv kv(cluster_[2]);
  const absl::StatusOr<GrantedLease> granted = leases.grant(1ns);
  ASSERT_THAT(granted.status(), IsOk());
  EXPECT_EQ(granted->ttl, 50ms);
  EXPECT_TRUE(granted->short_lived);
  Watch watch(cluster_[2], {.key = "a", .from = Revision(2)});
  const absl::Status put = kv.put({.key = "a", .lease = granted->id}).status();
  if (put.ok()) {
    for (bool gone = false; !gone;) {
      const absl::StatusOr<WatchBatch> batch = watch.next();
      ASSERT_THAT(batch.status(), IsOk());
      gone = !batch->events.empty() && batch->events.back().deleted();
    }
  } else {
    EXPECT_THAT(put, Is(Reason::LeaseNotFound)) << "the put came too late";
  }
  EXPECT_THAT(leases.renew(granted->id).status(), Is(Reason::LeaseNotFound));
}

TEST_F(KeyLeaseTest, AHandleOfNothingAndOneOfAClosedReplicaSaySo) {
  KeyLease none;
  EXPECT_FALSE(none.valid());
  EXPECT_EQ(none.id(), LeaseId());
  EXPECT_EQ(none.phase(), SessionPhase::Lost);
  EXPECT_THAT(none.revoke(), Is(Reason::Closed));
  Leases leases(cluster_[1]);
  std::promise<absl::StatusOr<KeyLease>> promise;
  leases.keep_async({}, [&](absl::StatusOr<KeyLease> lease) { promise.set_value(std::move(lease)); });
  absl::StatusOr<KeyLease> kept = promise.get_future().get();
  ASSERT_THAT(kept.status(), IsOk());
  ASSERT_THAT(kept->revoke(), IsOk());
  EXPECT_FALSE(kept->valid());
  ASSERT_THAT(cluster_[1].close(), IsOk());
  EXPECT_THAT(leases.grant(1s).status(), Is(Reason::Closed));
  EXPECT_THAT(leases.list().status(), Is(Reason::Closed));
}

}  // namespace
}  // namespace coordkit::testkit

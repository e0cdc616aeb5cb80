// The revisioned store through three real replicas.
#include <future>
#include <tuple>

#include "coordkit/coordkit.h"
#include "coordkit/keys/kv.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::SizeIs;

class KvTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.open_all(); }
  Cluster cluster_;
};

// Covers: S-01 S-08 S-14 S-19
TEST_F(KvTest, ChangesOfOneReplicaAreReadOnAllAndInThePast) {
  Kv here(cluster_[1]), there(cluster_[2]);
  ASSERT_THAT(here.put("config/a", "1").status(), IsOk());
  const absl::StatusOr<TransactionResult> created =
      Txn(here).when(Compare::missing("config/b")).then(PutOperation{.key = "config/b", .value = "1"}).commit();
  ASSERT_THAT(created.status(), IsOk());
  EXPECT_TRUE(created->succeeded);
  const absl::StatusOr<PutResult> again = there.put({.key = "config/a", .value = "2", .previous = true});
  ASSERT_THAT(again.status(), IsOk());
  EXPECT_EQ(again->previous->value, "1");

  const absl::StatusOr<RangeResult> now = there.range(RangeOperation::prefix("config/"));
  ASSERT_THAT(now.status(), IsOk());
  ASSERT_THAT(now->entries, SizeIs(2));
  EXPECT_EQ(now->entries[0].value, "2");
  RangeOperation before = RangeOperation::prefix("config/");
  before.revision = created->revision;
  EXPECT_EQ(here.range(before)->entries.at(0).value, "1");

  ASSERT_THAT(here.compact(again->revision).status(), IsOk());
  const absl::Status compacted = there.range(before).status();
  EXPECT_THAT(compacted, Is(Reason::Compacted));
  EXPECT_EQ(revision_of(compacted), again->revision);
  EXPECT_EQ(here.erase(DeleteOperation{.key = "config/", .end = prefix_end("config/")})->deleted, 2u);
  EXPECT_FALSE(there.get("config/a")->entry);
}

// Covers: S-39
TEST_F(KvTest, AKeyOfASessionGoesWithItAndItsHistoryStays) {
  Kv kv(cluster_[1]);
  Session session = cluster_.session(2);
  const LeaseId lease(session.id().value());
  const absl::StatusOr<PutResult> made = kv.put({.key = "members/", .value = "me", .lease = lease, .sequential = true});
  ASSERT_THAT(made.status(), IsOk());
  EXPECT_EQ(kv.get(made->key)->entry->lease, lease);
  ASSERT_THAT(session.close(), IsOk());
  EXPECT_EQ(kv.range(RangeOperation::prefix("members/"))->count, 0u);
  RangeOperation before = RangeOperation::prefix("members/");
  before.revision = made->revision;
  EXPECT_EQ(kv.range(before)->count, 1u);
}

// Covers: S-35
TEST_F(KvTest, AQuotaSetOnOneReplicaHoldsOnAll) {
  KeySpace here(cluster_[1]), there(cluster_[2]);
  Kv kv(cluster_[3]);
  ASSERT_THAT(here.set_quota(100).status(), IsOk());
  EXPECT_EQ(there.info()->quota, 100u);
  ASSERT_THAT(kv.put("a", "1").status(), IsOk());
  EXPECT_THAT(kv.put("b", "1").status(), Is(Reason::NoSpace));
  EXPECT_EQ(kv.erase("a")->deleted, 1u);
  ASSERT_THAT(there.set_quota(0).status(), IsOk());
  EXPECT_EQ(KeySpace(cluster_[3]).info()->quota, 0u);  // its early check may have used an older value
  EXPECT_THAT(kv.put("b", "1").status(), IsOk());
}

TEST_F(KvTest, AsynchronousCallsAreAnsweredOnceAndAClosedReplicaSaysSo) {
  Kv kv(cluster_[1]);
  std::promise<absl::StatusOr<TransactionResult>> committed;
  std::promise<absl::StatusOr<RangeResult>> ranged;
  kv.commit_async({{}, {PutOperation{.key = "a", .value = "1"}, PutOperation{.key = "b", .value = "1"}}, {}}, {}, {},
                  [&](absl::StatusOr<TransactionResult> result) { committed.set_value(std::move(result)); });
  const absl::StatusOr<TransactionResult> result = committed.get_future().get();
  ASSERT_THAT(result.status(), IsOk());
  EXPECT_THAT(result->replies, SizeIs(2));
  kv.range_async(RangeOperation::all(), {.read = Consistency::Local},
                 [&](absl::StatusOr<RangeResult> entries) { ranged.set_value(std::move(entries)); });
  EXPECT_EQ(ranged.get_future().get()->count, 2u);
  ASSERT_THAT(cluster_[1].close(), IsOk());
  EXPECT_THAT(kv.put("a", "2").status(), Is(Reason::Closed));
  EXPECT_THAT(kv.range(RangeOperation::all()).status(), Is(Reason::Closed));
}

// Covers: S-10
TEST_F(KvTest, EveryReplicaSeesWhatAnotherWasAnswered) {
  for (int i = 0; i < 30; ++i) {
    Kv writer(cluster_[1 + static_cast<uint64_t>(i) % 3]), reader(cluster_[1 + static_cast<uint64_t>(i + 1) % 3]);
    const absl::StatusOr<PutResult> put = writer.put("k", std::to_string(i));
    ASSERT_THAT(put.status(), IsOk());
    EXPECT_EQ(reader.range(RangeOperation::of("k"))->entries.at(0).value, std::to_string(i));
    const absl::StatusOr<RangeResult> local = reader.range(RangeOperation::of("k"), {.read = {Consistency::Local, put->index}});
    ASSERT_THAT(local.status(), IsOk());
    EXPECT_EQ(local->entries.at(0).value, std::to_string(i));
  }
}

// NOLINTBEGIN(bugprone-use-after-move): that is what it is about
TEST_F(KvTest, HandlesThatWereMovedFromAreAsBefore) {
  Kv kv(cluster_[1]);
  Leases leases(cluster_[1]);
  KeySpace space(cluster_[1]);
  Registry registry(cluster_[1], "services/");
  const auto to = std::tuple(std::move(kv), std::move(leases), std::move(space), std::move(registry));
  EXPECT_THAT(kv.put("a", "1").status(), IsOk());
  EXPECT_THAT(leases.list().status(), IsOk());
  EXPECT_THAT(space.info().status(), IsOk());
  EXPECT_THAT(registry.members().status(), IsOk());
  EXPECT_THAT(std::get<0>(to).get("a").status(), IsOk());
}

TEST_F(KvTest, SettingsThatWereMovedFromFollowNothing) {
  Config<size_t> from(cluster_[1], MirrorOptions::prefix("config/"),
                      [](const MirrorEntries& all) -> absl::StatusOr<size_t> { return all.size(); });
  const Config<size_t> to = std::move(from);
  EXPECT_THAT(to.wait_ready(), IsOk());
  EXPECT_EQ(*to.current(), 0u);
  EXPECT_EQ(*from.current(), 0u);
  EXPECT_THAT(from.wait_ready(), Is(Reason::Closed));
}
// NOLINTEND(bugprone-use-after-move)

}  // namespace
}  // namespace coordkit::testkit

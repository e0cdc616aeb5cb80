// Sticky locks at door 1: acquired and released by many threads at once, wanted by other replicas, used from a forked child.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

class ReplicaStickyTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.open_all(); }
  static LockOptions sticky(std::string owner = "") {
    return {.timeout = kPatience, .owner = std::move(owner), .sticky = true};
  }

  Cluster cluster_{1};
};

// Covers: S-58
TEST_F(ReplicaStickyTest, AReleasedLockIsAcquiredAgainInTheCallersThread) {
  Session me = cluster_.session(1);
  absl::StatusOr<Grant> grant = me.acquire("jobs", sticky());
  ASSERT_THAT(grant.status(), IsOk());
  const Index before = cluster_[1].holders("jobs")->as_of;
  Token last = grant->token();
  EXPECT_THAT(grant->release(), IsOk());
  EXPECT_THAT(grant->release(), Is(Reason::NotOwner));
  for (int i = 0; i < 100; ++i) {
    grant = me.try_acquire("jobs", sticky());
    ASSERT_THAT(grant.status(), IsOk());
    EXPECT_TRUE(grant->valid());
    EXPECT_EQ(grant->token(), last.next());
    last = grant->token();
    grant->release_later();
    EXPECT_FALSE(grant->valid());
  }
  const absl::StatusOr<LockInfo> info = cluster_[1].holders("jobs");
  EXPECT_LT(info->as_of.value(), before.value() + 50) << "no entry for each, as 200 would be";
  EXPECT_EQ(info->holders.size(), 1u) << "the session has it still";
}

// Covers: S-58
TEST_F(ReplicaStickyTest, ThreadsOfTwoSessionsExcludeEachOtherAndTokensRise) {
  std::atomic<int> inside{0};
  std::atomic<uint64_t> last{0};
  std::atomic<uint64_t> grants{0};
  const auto work = [&](Session session, std::string owner) {
    for (int i = 0; i < 200; ++i) {
      absl::StatusOr<Grant> grant = session.acquire("jobs", sticky(owner));
      ASSERT_THAT(grant.status(), IsOk());
      ASSERT_EQ(inside.fetch_add(1), 0);
      ASSERT_GT(grant->token().value(), last.exchange(grant->token().value()));
      ++grants;
      inside.fetch_sub(1);
      if (i % 2 == 0) {
        ASSERT_THAT(grant->release(), IsOk());
      }
    }
  };
  Session one = cluster_.session(1), other = cluster_.session(1);
  {
    std::vector<std::jthread> threads;
    for (const std::string owner : {"a", "b", "c"}) {
      threads.emplace_back(work, one, owner);
      threads.emplace_back(work, other, owner);
    }
  }
  EXPECT_EQ(grants, 1200u);
}

// Covers: S-58
TEST_F(ReplicaStickyTest, AnotherSessionGetsItWhenItAsks) {
  Session me = cluster_.session(1), other = cluster_.session(1);
  const Token mine = me.acquire("jobs", sticky())->token();
  EXPECT_THAT(other.try_acquire("elsewhere").status(), IsOk());
  const absl::StatusOr<Grant> grant = other.acquire("jobs", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  EXPECT_GE(grant->token().value(), mine.value() + (1 << 16)) << "above the whole block";
  EXPECT_THAT(me.try_acquire("jobs", sticky()).status(), Is(Reason::Held));
}

// Covers: S-58
TEST_F(ReplicaStickyTest, AMutexCanBeSticky) {
  Mutex mutex(cluster_.session(1), "jobs", {.sticky = true}), other(cluster_.session(1), "jobs");
  uint64_t last = 0;
  for (int i = 0; i < 10; ++i) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(mutex.valid());
    EXPECT_GT(mutex.token().value(), last);
    last = mutex.token().value();
  }
  const std::lock_guard lock(other);
  EXPECT_GT(other.token().value(), last);
}

// Covers: S-54 S-58
TEST_F(ReplicaStickyTest, AFenceIsMetByTheNewestLocalHoldOnly) {
  Session me = cluster_.session(1);
  absl::StatusOr<Grant> first = me.acquire("jobs", sticky());
  ASSERT_THAT(first.status(), IsOk());
  const Fence old = fenced_by(*first);
  EXPECT_THAT(cluster_[1].put("k", "1", {.fence = old}).status(), IsOk());
  EXPECT_THAT(first->release(), IsOk());
  const absl::StatusOr<Grant> second = me.acquire("jobs", sticky());
  EXPECT_THAT(cluster_[1].put("k", "2", {.fence = fenced_by(*second)}).status(), IsOk());
  EXPECT_THAT(cluster_[1].put("k", "3", {.fence = old}).status(), Is(Reason::Fenced));
  const absl::StatusOr<bool> current = second->check();
  ASSERT_THAT(current.status(), IsOk());
  EXPECT_TRUE(*current);
}

// Covers: S-54 S-58
TEST_F(ReplicaStickyTest, AFenceMadeByHandIsMetByTheNewestLocalHoldOnly) {
  Session me = cluster_.session(1);
  absl::StatusOr<Grant> first = me.acquire("jobs", sticky());
  ASSERT_THAT(first.status(), IsOk());
  const Fence old{"jobs", first->token()};
  EXPECT_THAT(cluster_[1].put("k", "1", {.fence = old}).status(), IsOk());
  EXPECT_THAT(first->release(), IsOk());
  EXPECT_THAT(cluster_[1].put("k", "2", {.fence = old}).status(), Is(Reason::Fenced)) << "nobody holds it";
  const Grant second = me.acquire("jobs", sticky("another")).value();
  EXPECT_THAT(cluster_[1].put("k", "3", {.fence = old}).status(), Is(Reason::Fenced)) << "somebody else does";
  EXPECT_THAT(cluster_[1].put("k", "4", {.fence = Fence{"jobs", second.token()}}).status(), IsOk());
}

// Covers: S-58 FLT_P19
TEST_F(ReplicaStickyTest, AForkedChildIsGrantedNothing) {
  Session me = cluster_.session(1);
  EXPECT_THAT(me.acquire("jobs", sticky())->release(), IsOk());
  const pid_t child = fork();
  if (child == 0) {
    _exit(me.acquire("jobs", sticky()).status().code() == absl::StatusCode::kFailedPrecondition ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_THAT(me.acquire("jobs", sticky()).status(), IsOk());
}

}  // namespace
}  // namespace coordkit::testkit

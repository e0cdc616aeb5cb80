// Exceptions of the standard lock interfaces, and several locks at once.
#include "coordkit/locks/mutex.h"

#include <atomic>
#include <mutex>
#include <thread>

#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::HasSubstr;

class MutexTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.open_all(); }

  // The exception of `act`.
  template <typename Act>
  static std::system_error thrown_by(Act act) {
    try {
      act();
    } catch (const std::system_error& error) {
      EXPECT_EQ(fault_of_words(error.what()), "");
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return std::system_error(std::error_code());
  }
  uint64_t entries() { return cluster_[1].health().commit.value(); }

  Cluster cluster_{1};
};

TEST_F(MutexTest, WhatIsThrownCarriesTheReasonAndTheSentence) {
  Session me = cluster_.session(1);
  Mutex mutex(me, "billing"), nameless(me, "");
  SharedMutex shared(me, "table");
  EXPECT_EQ(thrown_by([&] { nameless.lock(); }).code(), Reason::InvalidArgument);
  EXPECT_EQ(thrown_by([&] { nameless.lock(); }).code(), std::errc::invalid_argument);
  EXPECT_EQ(thrown_by([] { Mutex(Session(), "x").lock(); }).code(), Reason::Closed);
  ASSERT_THAT(me.close(), IsOk());
  const std::system_error dead = thrown_by([&] { mutex.lock(); });
  EXPECT_EQ(dead.code(), Reason::Lost);
  EXPECT_STREQ(dead.code().category().name(), "coordkit");
  EXPECT_THAT(std::string(dead.what()), HasSubstr("open a new one"));
  ASSERT_THAT(cluster_[1].close(), IsOk());
  for (const std::system_error& closed : {thrown_by([&] { mutex.lock(); }), thrown_by([&] { shared.lock_shared(); })}) {
    EXPECT_EQ(closed.code(), Reason::Closed);
    EXPECT_EQ(closed.code(), std::errc::owner_dead);
    EXPECT_THAT(std::string(closed.what()), HasSubstr("closed"));
  }
}

// Covers: S-53
TEST_F(MutexTest, AMultiLockHasAllOrNone) {
  Session me = cluster_.session(1), other = cluster_.session(1);
  Mutex from(me, "from"), to(me, "to"), theirs(other, "to");
  {
    MultiLock both(from, to);
    EXPECT_TRUE(both.owns_lock());
    EXPECT_TRUE(both.valid());
    EXPECT_TRUE(both.token());
    EXPECT_FALSE(theirs.try_lock());
    EXPECT_FALSE(from.try_lock()) << "an owner of its own";
    both.unlock();
    EXPECT_FALSE(both);
    EXPECT_FALSE(both.valid());
  }
  ASSERT_TRUE(theirs.try_lock_for(kPatience));
  MultiLock neither(Duration::zero(), from, to);
  EXPECT_FALSE(neither.owns_lock());
  EXPECT_TRUE(from.try_lock()) << "nothing was kept";
  from.unlock();
  theirs.unlock();
  MultiLock later(kPatience, from, to);
  EXPECT_TRUE(later);
}

TEST_F(MutexTest, AMultiLockOfWhatDoesNotGoTogetherThrows) {
  Session me = cluster_.session(1), other = cluster_.session(1);
  Mutex mine(me, "a"), again(me, "a"), theirs(other, "b");
  EXPECT_EQ(thrown_by([&] { MultiLock lock(mine, again); }).code(), Reason::InvalidArgument);
  EXPECT_EQ(thrown_by([&] { MultiLock lock(mine, theirs); }).code(), Reason::InvalidArgument);
  Mutex none(Session(), "a");
  EXPECT_EQ(thrown_by([&] { MultiLock lock(none, mine); }).code(), Reason::Closed);
  ASSERT_THAT(cluster_[1].close(), IsOk());
  EXPECT_EQ(thrown_by([&] { MultiLock lock(mine); }).code(), Reason::Closed);
}

// However many want them, each acquisition costs an acquire and a release, and no tries in between.
// Covers: S-53
TEST_F(MutexTest, AMultiLockUnderContentionCostsTwoEntriesEachTime) {
  constexpr uint64_t kThreads = 4, kRounds = 25;
  std::vector<Session> sessions;
  for (uint64_t i = 0; i < kThreads; ++i) sessions.push_back(cluster_.session(1));
  std::atomic<int> inside = 0;
  std::atomic<uint64_t> rounds = 0;
  const uint64_t before = entries();
  {
    std::vector<std::jthread> threads;
    for (uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        Mutex a(sessions[i], i % 2 == 0 ? "a" : "b"), b(sessions[i], i % 2 == 0 ? "b" : "a");
        for (uint64_t round = 0; round < kRounds; ++round) {
          const MultiLock both(a, b);
          EXPECT_EQ(inside.fetch_add(1), 0);
          ++rounds;
          inside.fetch_sub(1);
        }
      });
    }
  }
  EXPECT_EQ(rounds, kThreads * kRounds);
  EXPECT_LE(entries() - before, 2 * kThreads * kRounds + 10);
}

}  // namespace
}  // namespace coordkit::testkit

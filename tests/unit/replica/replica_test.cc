// Door 1 as a whole: three replicas in one process, real sockets and files.
#include "coordkit/replica.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "coordkit/coordkit.h"
#include "replica/operate/local_stream.h"
#include "tests/unit/replica/replica_cluster.h"
#include "tests/unit/storage/file_size_limit.h"

namespace coordkit::testkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ThreadsForbidden {
 public:
  ThreadsForbidden() { EXPECT_EQ(::pthread_getattr_default_np(&before_), 0); }
  ~ThreadsForbidden() {
    EXPECT_EQ(::pthread_setattr_default_np(&before_), 0);
    ::pthread_attr_destroy(&before_);
  }
  ThreadsForbidden(const ThreadsForbidden&) = delete;
  ThreadsForbidden& operator=(const ThreadsForbidden&) = delete;

  void forbid() const {
    pthread_attr_t endless;
    ::pthread_getattr_default_np(&endless);
    ::pthread_attr_setstacksize(&endless, size_t{1} << 50);
    ::pthread_setattr_default_np(&endless);
    ::pthread_attr_destroy(&endless);
  }

 private:
  pthread_attr_t before_ = {};
};

// From the first time that this thread asks for lagging time on, which is when all is made but the engine's thread, the
// process has no room for the stack of another thread.
class LastThreadForbidden final : public Clock {
 public:
  explicit LastThreadForbidden(const ThreadsForbidden& forbidden) : forbidden_(forbidden) {}
  Now now() const noexcept override { return system_clock().now(); }
  LaggingTime lagging() const noexcept override {
    if (std::this_thread::get_id() == opener_) forbidden_.forbid();
    return system_clock().lagging();
  }

 private:
  const ThreadsForbidden& forbidden_;
  const std::thread::id opener_ = std::this_thread::get_id();
};

// Covers: FLT_P14
TEST(OpenTest, AReplicaWhoseThreadsCannotBeMadeIsNotOpenedAndLeavesNothing) {
  Cluster cluster(1);
  ReplicaOptions options = cluster.options(1);
  options.on_event = [](const ReplicaEvent&) {};
  {
    const ThreadsForbidden forbidden;
    const LastThreadForbidden clock(forbidden);
    options.parts.clock = &clock;
    EXPECT_THAT(Replica::open(options).status(), Is(Reason::LimitExceeded)) << "the last thread";
    EXPECT_THAT(Replica::open(options).status(), Is(Reason::LimitExceeded)) << "the first one";
  }
  options.parts.clock = nullptr;
  EXPECT_THAT(Replica::open(options).status(), IsOk());
}

// Opens a replica with ever more descriptors to be had, until that does not fail for want of one. Returns the last status.
absl::Status open_with_ever_more_descriptors(const ReplicaOptions& options) {
  rlimit before = {};
  EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ::close(next);
  absl::Status said = make_error(Reason::LimitExceeded, "none was opened");
  for (rlim_t limit = next; limit < next + 64u && reason_of(said) == Reason::LimitExceeded; ++limit) {
    const rlimit now{limit, before.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
    said = Replica::open(options).status();
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  }
  return said;
}

// Some of them were missed with an exception, which ended hosts, or under another name.
// Covers: FLT_P14
TEST(OpenTest, WhicheverDescriptorIsMissingAReplicaIsNotOpenedAndSaysSo) {
  Cluster cluster(1);
  const Folder folder;
  ReplicaOptions options = cluster.options(1);
  options.admin_socket = folder.path() / "admin";
  EXPECT_THAT(open_with_ever_more_descriptors(options), IsOk());
}

// A replica that could not ask took it for a dead one's.
// Covers: FLT_P14
TEST(OpenTest, AnAdminSocketAtWhichSomebodyListensIsLeftAlone) {
  Cluster cluster(1), other(1);
  const Folder folder;
  ReplicaOptions options = other.options(1);
  options.admin_socket = folder.path() / "admin";
  ASSERT_NO_FATAL_FAILURE(other.open(options));
  ReplicaOptions mistaken = cluster.options(1);
  mistaken.admin_socket = options.admin_socket;
  EXPECT_THAT(open_with_ever_more_descriptors(mistaken), Is(Reason::InUse));
  EXPECT_TRUE(LocalStream::connect(options.admin_socket));
}

// Covers: FLT_D04
TEST(OpenTest, ALimitOfTheSizeOfFilesEndsNoProcessAndLosesNothing) {
  Cluster cluster(1);
  absl::Status opened;
  {
    const FileSizeLimit limit(8192);
    opened = Replica::open(cluster.options(1)).status();
  }
  EXPECT_THAT(opened, HasCode(absl::StatusCode::kResourceExhausted));
  cluster.open_all();
  ASSERT_THAT(cluster[1].put("before", "v").status(), IsOk());
  {
    const FileSizeLimit limit(0);
    (void)cluster[1].put("meanwhile", "v", {.timeout = 100ms});  // fails or may still be written
  }
  cluster.close(1);
  cluster.open_all();
  const auto got = cluster[1].get("before");
  ASSERT_THAT(got.status(), IsOk());
  EXPECT_TRUE(got->entry);
}

class ReplicaTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.open_all(); }

  // Waits until the cluster reports `waiters` in the queue. Each poll is a quorum round, so this is no busy loop.
  void await_queue(const std::string& name, size_t waiters) {
    absl::StatusOr<QueueInfo> queue = cluster_[1].queue(name);
    while (queue.ok() && queue->waiters.size() != waiters) queue = cluster_[1].queue(name);
    ASSERT_THAT(queue.status(), IsOk());
  }

  Cluster cluster_;
};

TEST_F(ReplicaTest, AGrantIsValidUntilItsReleaseAndItsTokenGrows) {
  Session me = cluster_.session(1);
  absl::StatusOr<Grant> first = me.acquire("billing", {.timeout = kPatience});
  ASSERT_THAT(first.status(), IsOk());
  EXPECT_TRUE(first->valid());
  EXPECT_EQ(first->name(), "billing");
  EXPECT_THAT(first->check(), ::testing::ResultOf([](const auto& answer) { return answer.ok() && *answer; }, true));
  EXPECT_THAT(first->release(), IsOk());
  EXPECT_FALSE(first->valid());

  absl::StatusOr<Grant> second = me.acquire("billing", {.timeout = kPatience});
  ASSERT_THAT(second.status(), IsOk());
  EXPECT_GT(second->token(), first->token());
}

TEST_F(ReplicaTest, EveryReplicaHandsOutLocksAndTokensFollowTheOrderOfTheHolders) {
  constexpr int kRounds = 20;
  Token newest;
  int inside = 0;
  int done = 0;  // guarded by nothing but the lock under test
  std::vector<std::thread> workers;
  for (uint64_t id = 1; id <= 3; ++id) {
    workers.emplace_back([&, id] {
      Session me = cluster_.session(id);
      for (int round = 0; round < kRounds; ++round) {
        absl::StatusOr<Grant> grant = me.acquire("shared");
        ASSERT_THAT(grant.status(), IsOk());
        EXPECT_EQ(++inside, 1);
        EXPECT_GT(grant->token(), newest);
        newest = grant->token();
        ++done;
        --inside;
        EXPECT_THAT(grant->release(), IsOk());
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(done, 3 * kRounds);
}

TEST_F(ReplicaTest, AGrantOutOfScopeIsReleased) {
  Session me = cluster_.session(1);
  Session other = cluster_.session(2);
  {
    absl::StatusOr<Grant> grant = me.acquire("billing");
    ASSERT_THAT(grant.status(), IsOk());
    EXPECT_THAT(other.try_acquire("billing").status(), Is(Reason::Held));
  }
  EXPECT_THAT(other.acquire("billing", {.timeout = kPatience}).status(), IsOk());
}

TEST_F(ReplicaTest, AWaitThatTimesOutIsCertainlyNotTheOwner) {
  Session me = cluster_.session(1);
  Session other = cluster_.session(2);
  absl::StatusOr<Grant> grant = me.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  EXPECT_THAT(other.acquire("billing", {.timeout = 20ms}).status(), Is(Reason::WaitTimeout));
  const absl::StatusOr<QueueInfo> queue = cluster_[3].queue("billing");
  ASSERT_THAT(queue.status(), IsOk());
  EXPECT_THAT(queue->waiters, IsEmpty());
  EXPECT_TRUE(grant->valid());
}

TEST_F(ReplicaTest, AClosedSessionFreesItsLocksForTheNextInLine) {
  Session me = cluster_.session(1);
  Session other = cluster_.session(2);
  absl::StatusOr<Grant> grant = me.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  auto next = std::async(std::launch::async, [&] { return other.acquire("billing"); });
  await_queue("billing", 1);
  EXPECT_THAT(me.close(), IsOk());
  EXPECT_FALSE(grant->valid());
  EXPECT_FALSE(me.valid());
  EXPECT_EQ(me.phase(), SessionPhase::Lost);
  const absl::StatusOr<Grant> taken = next.get();
  ASSERT_THAT(taken.status(), IsOk());
  EXPECT_TRUE(taken->valid());
}

TEST_F(ReplicaTest, MutexServesTheStandardLocks) {
  Session me = cluster_.session(2);
  Mutex one(me, "one");
  Mutex two(me, "two");
  Mutex one_again(me, "one");  // another object is another owner
  {
    const std::scoped_lock both(one, two);
    EXPECT_TRUE(one.valid());
    EXPECT_NE(one.token(), two.token());
    EXPECT_FALSE(one_again.try_lock());
    EXPECT_FALSE(one_again.try_lock_for(20ms));
  }
  EXPECT_FALSE(one.valid());
  std::unique_lock lock(one_again, kPatience);
  ASSERT_TRUE(lock.owns_lock());
  const Token token = one_again.token();
  lock.unlock();
  ASSERT_TRUE(one_again.try_lock_until(std::chrono::steady_clock::now() + kPatience));
  EXPECT_GT(one_again.token(), token);
  one_again.unlock();
}

// As with a mutex of the standard library: its holder excludes all others, including those of its own process.
TEST_F(ReplicaTest, ThreadsThatShareAMutexExcludeEachOther) {
  Session me = cluster_.session(2);
  Mutex mutex(me, "shared");
  int inside = 0, most = 0, rounds = 0;  // lock holders
  std::vector<Token> tokens;
  const auto work = [&] {
    for (int i = 0; i < 5; ++i) {
      const std::lock_guard lock(mutex);
      most = std::max(most, ++inside);
      ++rounds;
      tokens.push_back(mutex.token());
      std::this_thread::yield();
      --inside;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(rounds, 20);
  EXPECT_TRUE(std::ranges::is_sorted(tokens));

  mutex.lock();
  EXPECT_FALSE(std::async(std::launch::async, [&] { return mutex.try_lock(); }).get());
  EXPECT_FALSE(std::async(std::launch::async, [&] { return mutex.try_lock_for(1ms); }).get());
  auto next = std::async(std::launch::async, [&] { return mutex.try_lock_for(kPatience); });
  mutex.unlock();
  EXPECT_TRUE(next.get());
  mutex.unlock();
}

// Covers: S-46
TEST_F(ReplicaTest, AGrantIsConvertedWithoutWaiting) {
  Session me = cluster_.session(2), other = cluster_.session(3);
  absl::StatusOr<Grant> grant = me.acquire("table");
  ASSERT_THAT(grant.status(), IsOk());
  const Token first = grant->token();
  std::promise<absl::StatusOr<Grant>> shared;
  grant->downgrade_async([&](absl::StatusOr<Grant> answer) { shared.set_value(std::move(answer)); });
  absl::StatusOr<Grant> reader = shared.get_future().get();
  ASSERT_THAT(reader.status(), IsOk());
  EXPECT_FALSE(grant->valid()) << "it holds nothing any more";
  EXPECT_TRUE(reader->valid());
  EXPECT_GT(reader->token(), first);
  EXPECT_EQ(reader->mode(), LockMode::Shared);

  absl::StatusOr<Grant> beside = other.acquire_shared("table");
  ASSERT_THAT(beside.status(), IsOk());
  std::promise<absl::StatusOr<Grant>> refused;
  reader->upgrade_async([&](absl::StatusOr<Grant> answer) { refused.set_value(std::move(answer)); });
  EXPECT_EQ(reason_of(refused.get_future().get().status()), Reason::UpgradeConflict);
  EXPECT_TRUE(reader->valid()) << "refused, it is as it was";
  ASSERT_THAT(beside->release(), IsOk());
  std::promise<absl::StatusOr<Grant>> alone;
  reader->upgrade_async([&](absl::StatusOr<Grant> answer) { alone.set_value(std::move(answer)); });
  absl::StatusOr<Grant> writer = alone.get_future().get();
  ASSERT_THAT(writer.status(), IsOk());

  std::promise<absl::Status> answered;
  writer->update_value_async("said", [&](absl::Status answer) { answered.set_value(answer); });
  EXPECT_THAT(answered.get_future().get(), IsOk());
  EXPECT_EQ(cluster_[1].holders("table")->holders.at(0).texts.value, "said");

  std::promise<absl::StatusOr<Grant>> nothing;
  Grant().upgrade_async([&](absl::StatusOr<Grant> answer) { nothing.set_value(std::move(answer)); });
  EXPECT_EQ(reason_of(nothing.get_future().get().status()), Reason::NotOwner);
}

TEST_F(ReplicaTest, SharedMutexServesTheStandardLocksOverAllReplicas) {
  Session me = cluster_.session(2), other = cluster_.session(3);
  SharedMutex mine(me, "table"), theirs(other, "table");
  {
    const std::shared_lock first(mine), second(mine), third(theirs);
    EXPECT_TRUE(mine.valid());
    EXPECT_FALSE(theirs.try_lock());
    EXPECT_TRUE(theirs.try_lock_shared());
    theirs.unlock_shared();
  }
  Token token;
  {
    const std::unique_lock alone(mine, kPatience);
    ASSERT_TRUE(alone.owns_lock());
    token = mine.token();
    EXPECT_FALSE(theirs.try_lock_shared_for(20ms));
  }
  std::shared_lock again(theirs, kPatience);
  ASSERT_TRUE(again.owns_lock());
  EXPECT_GT(theirs.token(), token);
}

TEST_F(ReplicaTest, TimesBeyondEveryWaitAreNoneOrTheLongest) {
  using std::chrono::steady_clock;
  Session me = cluster_.session(1), other = cluster_.session(2);
  Mutex held(other, "billing"), mine(me, "billing"), another(me, "ledger");
  SharedMutex shared(me, "billing"), prices(me, "prices");
  held.lock();
  EXPECT_FALSE(mine.try_lock_until(steady_clock::time_point::min()));
  EXPECT_FALSE(mine.try_lock_for(std::chrono::hours::min()));
  EXPECT_FALSE(shared.try_lock_until(std::chrono::system_clock::time_point::min()));
  EXPECT_FALSE(shared.try_lock_shared_until(steady_clock::time_point::min()));
  auto waits = std::async(std::launch::async, [&] { return mine.try_lock_for(std::chrono::hours::max()); });
  await_queue("billing", 1);
  held.unlock();
  EXPECT_TRUE(waits.get());
  EXPECT_TRUE(another.try_lock_until(steady_clock::time_point::max()));
  EXPECT_TRUE(prices.try_lock_for(std::chrono::hours::max()));
}

TEST_F(ReplicaTest, SeveralLocksAreAcquiredAtOnceAndAGrantConverts) {
  Session me = cluster_.session(1), other = cluster_.session(2);
  {
    absl::StatusOr<Grant> both = acquire_all(me, {{"x"}, {"y", LockMode::Shared}}, {.timeout = kPatience});
    ASSERT_THAT(both.status(), IsOk());
    EXPECT_EQ(other.try_acquire("x").status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(other.acquire_shared("y", {.timeout = kPatience}).status(), IsOk());
    EXPECT_EQ(both->upgrade().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(both->valid());
  }
  absl::StatusOr<Grant> grant = me.acquire("x", {.timeout = kPatience});
  ASSERT_THAT(grant.status(), IsOk());
  const Token writer = grant->token();
  ASSERT_THAT(grant->downgrade(), IsOk());
  EXPECT_GT(grant->token(), writer);
  EXPECT_EQ(grant->mode(), LockMode::Shared);
  {
    absl::StatusOr<Grant> reader = other.acquire_shared("x", {.timeout = kPatience});
    ASSERT_THAT(reader.status(), IsOk());
    EXPECT_EQ(reason_of(grant->upgrade()), Reason::UpgradeConflict);
    EXPECT_TRUE(grant->valid());
    ASSERT_THAT(reader->release(), IsOk());
  }
  ASSERT_THAT(grant->upgrade(), IsOk());
  ASSERT_THAT(grant->update_value("here"), IsOk());
  const absl::StatusOr<LockInfo> info = cluster_[3].holders("x");
  ASSERT_THAT(info.status(), IsOk());
  ASSERT_THAT(info->holders, SizeIs(1));
  EXPECT_EQ(info->holders[0].texts.value, "here");
  EXPECT_EQ(info->holders[0].token, grant->token());
}

TEST_F(ReplicaTest, AMutexOfADeadSessionThrows) {
  Session me = cluster_.session(1);
  Mutex mutex(me, "billing");
  ASSERT_THAT(me.close(), IsOk());
  EXPECT_THROW(mutex.lock(), std::system_error);
  EXPECT_THROW(mutex.try_lock(), std::system_error);
  EXPECT_THROW(mutex.try_lock_for(20ms), std::system_error);
}

TEST_F(ReplicaTest, KeysWrittenThroughOneReplicaAreReadThroughAllOthers) {
  const absl::StatusOr<PutResult> put = cluster_[1].put("color", "green");
  ASSERT_THAT(put.status(), IsOk());
  for (uint64_t id = 1; id <= 3; ++id) {
    const absl::StatusOr<GetResult> got = cluster_[id].get("color");
    ASSERT_THAT(got.status(), IsOk());
    ASSERT_TRUE(got->entry);
    EXPECT_EQ(got->entry->value, "green");
    EXPECT_EQ(got->entry->mod, put->revision);
  }
  const absl::StatusOr<EraseResult> erased = cluster_[2].erase("color");
  ASSERT_THAT(erased.status(), IsOk());
  EXPECT_EQ(erased->deleted, 1u);
  EXPECT_GT(erased->revision, put->revision);
  const absl::StatusOr<GetResult> gone = cluster_[3].get("color");
  ASSERT_THAT(gone.status(), IsOk());
  EXPECT_FALSE(gone->entry);
}

TEST_F(ReplicaTest, HoldersAndQueueTellWhoIsThereInOrder) {
  Session me = cluster_.session(1);
  Session second = cluster_.session(2);
  Session third = cluster_.session(3);
  absl::StatusOr<Grant> grant = me.acquire("billing", {.owner = "cron", .value = "host-1"});
  ASSERT_THAT(grant.status(), IsOk());
  auto next = std::async(std::launch::async, [&] { return second.acquire("billing"); });
  await_queue("billing", 1);
  auto last = std::async(std::launch::async, [&] { return third.acquire("billing"); });
  await_queue("billing", 2);

  const absl::StatusOr<LockInfo> lock = cluster_[3].holders("billing");
  ASSERT_THAT(lock.status(), IsOk());
  ASSERT_THAT(lock->holders, SizeIs(1));
  EXPECT_EQ(lock->holders[0].session, me.id());
  EXPECT_EQ(lock->holders[0].token, grant->token());
  EXPECT_EQ(lock->holders[0].owner_tag, "cron");
  EXPECT_EQ(lock->holders[0].texts.value, "host-1");
  EXPECT_EQ(lock->waiters, 2u);
  const absl::StatusOr<QueueInfo> queue = cluster_[2].queue("billing");
  ASSERT_THAT(queue.status(), IsOk());
  ASSERT_THAT(queue->waiters, SizeIs(2));
  EXPECT_EQ(queue->waiters[0].session, second.id());
  EXPECT_EQ(queue->waiters[1].session, third.id());

  EXPECT_THAT(grant->release(), IsOk());
  absl::StatusOr<Grant> second_grant = next.get();
  ASSERT_THAT(second_grant.status(), IsOk());
  EXPECT_THAT(second_grant->release(), IsOk());
  EXPECT_THAT(last.get().status(), IsOk());
}

TEST_F(ReplicaTest, ARestartedReplicaComesBackWithItsDataAndCatchesUp) {
  ASSERT_THAT(cluster_[1].put("before", "1").status(), IsOk());
  const ClusterId id = cluster_[3].health().cluster;
  cluster_.close(3);
  ASSERT_THAT(cluster_[1].put("meanwhile", "2").status(), IsOk());
  cluster_.open(3);
  ASSERT_THAT(cluster_[3].wait_ready(kPatience), IsOk());
  EXPECT_EQ(cluster_[3].health().cluster, id);
  for (const char* key : {"before", "meanwhile"}) {
    const absl::StatusOr<GetResult> got = cluster_[3].get(key);
    ASSERT_THAT(got.status(), IsOk());
    EXPECT_TRUE(got->entry) << key;
  }
}

TEST_F(ReplicaTest, AllReplicasRestartedKeepWhatWasAcknowledged) {
  Session me = cluster_.session(1);
  absl::StatusOr<Grant> grant = me.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  ASSERT_THAT(cluster_[2].put("color", "green").status(), IsOk());
  for (uint64_t id = 1; id <= 3; ++id) cluster_.close(id);
  EXPECT_FALSE(grant->valid());

  cluster_.open_all();
  const absl::StatusOr<GetResult> got = cluster_[3].get("color");
  ASSERT_THAT(got.status(), IsOk());
  EXPECT_TRUE(got->entry);
  absl::StatusOr<Grant> newer = cluster_.session(2).acquire("another");
  ASSERT_THAT(newer.status(), IsOk());
  EXPECT_GT(newer->token(), grant->token());
}

TEST_F(ReplicaTest, CloseEndsEveryCallUnderWay) {
  Session holder = cluster_.session(1);
  Session waiter = cluster_.session(2);
  absl::StatusOr<Grant> grant = holder.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  auto waiting = std::async(std::launch::async, [&] { return waiter.acquire("billing").status(); });
  std::promise<absl::Status> answered;
  waiter.acquire_async("billing", {.owner = "other"},
                       [&](absl::StatusOr<Grant> answer) { answered.set_value(answer.status()); });
  await_queue("billing", 2);
  EXPECT_THAT(cluster_[2].close(), IsOk());
  EXPECT_THAT(waiting.get(), Is(Reason::Stopped));
  EXPECT_THAT(answered.get_future().get(), Is(Reason::Stopped));
  EXPECT_THAT(cluster_[2].close(), IsOk());  // again
}

// Covers: FLT_A03
TEST_F(ReplicaTest, WhoeverCancelsOrLetsGoWhileTheReplicaClosesWaitsForNothing) {
  Session holder = cluster_.session(1);
  Session waiter = cluster_.session(2);
  absl::StatusOr<Grant> grant = holder.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  std::stop_source stop;
  std::promise<absl::Status> answered;
  AsyncCall second;
  Observation observation = Counter(waiter, "n").observe([](const CounterSeen&) {});
  std::optional<Watch> watch(std::in_place, cluster_[2], WatchOptions{.key = "k"});
  waiter.acquire_async("billing", {.owner = "first"}, [&](absl::StatusOr<Grant>) {  // the second is not answered yet
    std::thread([&] {
      stop.request_stop();
      second.cancel();
      observation = {};
      watch.reset();
    }).join();
  });
  second = waiter.acquire_async("billing", {.owner = "second", .stop = stop.get_token()},
                                [&](absl::StatusOr<Grant> answer) { answered.set_value(answer.status()); });
  await_queue("billing", 2);
  EXPECT_THAT(cluster_[2].close(), IsOk());
  EXPECT_THAT(answered.get_future().get(), Is(Reason::Stopped));
}

// Covers: FLT_A03
TEST_F(ReplicaTest, WhoeverBeginsACallWhileTheReplicaClosesWaitsForNoCallback) {
  Session holder = cluster_.session(1);
  Session waiter = cluster_.session(2);
  absl::StatusOr<Grant> grant = holder.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  std::promise<absl::Status> acquired, released, put;
  waiter.acquire_async("billing", {}, [&](absl::StatusOr<Grant>) {
    std::thread([&] {
      waiter.acquire_async("another", {}, [&](absl::StatusOr<Grant> answer) { acquired.set_value(answer.status()); });
      waiter.close_async([&](absl::Status answer) { released.set_value(std::move(answer)); });
      cluster_[2].put_async("k", "v", {}, [&](absl::StatusOr<PutResult> answer) { put.set_value(answer.status()); });
    }).join();
  });
  await_queue("billing", 1);
  EXPECT_THAT(cluster_[2].close(), IsOk());
  for (std::promise<absl::Status>* answer : {&acquired, &released, &put}) {
    std::future<absl::Status> future = answer->get_future();
    ASSERT_EQ(future.wait_for(0s), std::future_status::ready) << "it is answered before the close is over";
  }
}

// Covers: FLT_A03
TEST_F(ReplicaTest, NothingRunsAfterTheCloseOfTheSecondToCloseEither) {
  std::promise<void> lost;
  std::atomic<bool> over{false};
  const auto on_phase = [&](SessionPhase phase) {
    if (phase != SessionPhase::Lost) return;
    lost.set_value();
    for (int i = 0; i < 10; ++i) EXPECT_THAT(cluster_[2].put("k", "v", {.timeout = kPatience}).status(), IsOk());
    over = true;
  };
  const absl::StatusOr<Session> session = cluster_[1].open_session({.timeout = kPatience, .on_phase = on_phase});
  ASSERT_THAT(session.status(), IsOk());
  auto first = std::async(std::launch::async, [&] { return cluster_[1].close(); });
  lost.get_future().wait();
  EXPECT_THAT(cluster_[1].close(), IsOk());
  EXPECT_TRUE(over);
  EXPECT_THAT(first.get(), IsOk());
}

// Covers: FLT_A01
TEST_F(ReplicaTest, ACallbackOfAClosedReplicaWaitsForNothingEither) {
  ASSERT_THAT(cluster_[1].close(), IsOk());
  std::vector<absl::Status> refused;
  cluster_[1].put_async("k", "v", {}, [&](const absl::StatusOr<PutResult>& put) {
    EXPECT_THAT(put.status(), Is(Reason::Closed));
    refused = {cluster_[1].get("k").status(), cluster_[1].wait_ready(kPatience), cluster_[1].close()};
  });
  EXPECT_THAT(refused, ElementsAre(Is(Reason::InCallback), Is(Reason::InCallback), Is(Reason::InCallback)));
  EXPECT_THAT(cluster_[1].get("k").status(), Is(Reason::Closed));
}

TEST_F(ReplicaTest, HandlesOutliveTheReplicaAndSayThatItIsClosed) {
  Session me = cluster_.session(1);
  absl::StatusOr<Grant> grant = me.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  Mutex mutex(me, "other");
  mutex.lock();
  cluster_.close(1);

  EXPECT_FALSE(grant->valid());
  EXPECT_FALSE(me.valid());
  EXPECT_FALSE(mutex.valid());
  EXPECT_THAT(grant->release(), Is(Reason::Closed));
  EXPECT_THAT(grant->check().status(), Is(Reason::Closed));
  EXPECT_THAT(me.acquire("another").status(), Is(Reason::Closed));
  EXPECT_THAT(me.close(), Is(Reason::Closed));
  std::promise<absl::Status> answered;
  me.acquire_async("another", {}, [&](absl::StatusOr<Grant> answer) { answered.set_value(answer.status()); });
  EXPECT_THAT(answered.get_future().get(), Is(Reason::Closed));
  EXPECT_THROW(mutex.lock(), std::system_error);
  mutex.unlock();
}

TEST_F(ReplicaTest, ABlockingCallInsideAnAsyncCallbackIsRefused) {
  Session me = cluster_.session(1);
  std::promise<void> done;
  me.acquire_async("billing", {}, [&](absl::StatusOr<Grant> grant) {
    EXPECT_THAT(grant.status(), IsOk());
    EXPECT_THAT(me.acquire("other").status(), Is(Reason::InCallback));
    EXPECT_THAT(grant->release(), Is(Reason::InCallback));
    EXPECT_THAT(cluster_[1].get("color").status(), Is(Reason::InCallback));
    EXPECT_THAT(cluster_[1].close(), Is(Reason::InCallback));
    done.set_value();
  });
  done.get_future().get();
  EXPECT_THAT(cluster_[1].put("color", "green").status(), IsOk());  // nothing was damaged
}

TEST_F(ReplicaTest, AReleaseRefusedInsideACallbackChangesNothing) {
  Session me = cluster_.session(1);
  std::promise<void> done;
  me.acquire_async("billing", {}, [&](absl::StatusOr<Grant> grant) {
    ASSERT_THAT(grant.status(), IsOk());
    const absl::Status refused = grant->release();
    EXPECT_THAT(refused, Is(Reason::InCallback));
    EXPECT_EQ(outcome_of(refused), Outcome::NoEffect);
    EXPECT_TRUE(grant->valid());
    grant = absl::CancelledError();  // the grant goes, and with it the lock
    done.set_value();
  });
  done.get_future().get();
  EXPECT_THAT(cluster_.session(2).acquire("billing", {.timeout = kPatience}).status(), IsOk());
}

TEST_F(ReplicaTest, AStickyGrantIsReleasedInsideACallbackToo) {
  Session me = cluster_.session(1);
  std::promise<void> done;
  me.acquire_async("billing", {.sticky = true}, [&](absl::StatusOr<Grant> grant) {
    ASSERT_THAT(grant.status(), IsOk());
    EXPECT_THAT(grant->release(), IsOk()) << "it waits for nobody";
    EXPECT_FALSE(grant->valid());
    done.set_value();
  });
  done.get_future().get();
  EXPECT_THAT(cluster_.session(2).acquire("billing", {.timeout = kPatience}).status(), IsOk());
}

TEST_F(ReplicaTest, AsyncAcquireAndReleaseEndOnce) {
  Session me = cluster_.session(3);
  std::promise<absl::Status> released;
  Grant held;
  me.acquire_async("billing", {}, [&](absl::StatusOr<Grant> grant) {
    ASSERT_THAT(grant.status(), IsOk());
    held = *std::move(grant);
    EXPECT_TRUE(held.valid());
    held.release_async([&](absl::Status status) { released.set_value(std::move(status)); });
    EXPECT_FALSE(held.valid());
  });
  EXPECT_THAT(released.get_future().get(), IsOk());
}

// Nobody wants the answer; all that was asked for happens, and a grant that nobody takes is given back.
// Covers: FLT_A01
TEST_F(ReplicaTest, AnEmptyCallbackIsToldNothing) {
  cluster_[1].put_async("color", "green", {}, {});
  cluster_[1].open_session_async({}, {});
  Session me = cluster_.session(1);
  me.acquire_async("billing", {}, {});
  Grant held = me.acquire("invoices", {.timeout = kPatience}).value();
  held.downgrade_async({});
  held.release_async({});
  ClaimQueue jobs(me, "jobs");
  jobs.enqueue_async("one", 0, {});
  jobs.claim_async({}, {});
  const Observation seen = Counter(me, "visits").observe({});
  const Watch watch(cluster_[1], WatchOptions::of("color"), WatchObserver());
  EXPECT_THAT(me.acquire("billing", {.timeout = kPatience, .owner = "another"}).status(), IsOk()) << "it was given back";
  EXPECT_THAT(jobs.claim({.timeout = kPatience}).status(), IsOk());
  EXPECT_THAT(Counter(me, "visits").add().status(), IsOk());
  EXPECT_EQ(cluster_[1].get("color")->entry->value, "green");
  Session().close_async({});
  Grant().release_async({});
  Counter(Session(), "visits").add_async(1, {});
  me.close_async({});
  cluster_.close(1);
}

TEST_F(ReplicaTest, ReplicasAgreeOnTheDigestOfTheSameIndex) {
  for (int i = 0; i < 30; ++i) ASSERT_THAT(cluster_[1 + i % 3].put("key-" + std::to_string(i % 7), "x").status(), IsOk());
  Health health[3];
  do {
    for (uint64_t id = 1; id <= 3; ++id) health[id - 1] = cluster_[id].health();
  } while (health[0].applied != health[1].applied || health[1].applied != health[2].applied);
  EXPECT_EQ(health[0].digest, health[1].digest);
  EXPECT_EQ(health[1].digest, health[2].digest);
}

TEST(ReplicaAloneTest, OneMemberIsAClusterToo) {
  Cluster cluster(1);
  cluster.open_all();
  Session me = cluster.session(1);
  absl::StatusOr<Grant> grant = me.acquire("billing");
  ASSERT_THAT(grant.status(), IsOk());
  EXPECT_TRUE(grant->valid());
  EXPECT_EQ(cluster[1].health().role, raft::Role::Leader);
}

// The promise is kept when nothing of that replica is left.
std::unique_ptr<Replica> open_mortal(ReplicaOptions options, std::promise<void>& gone) {
  options.on_error = [last = std::shared_ptr<void>(nullptr, [&gone](void*) { gone.set_value(); })](const absl::Status&) {};
  absl::StatusOr<std::unique_ptr<Replica>> replica = Replica::open(std::move(options));
  EXPECT_THAT(replica.status(), IsOk());
  return replica.ok() ? *std::move(replica) : nullptr;
}

// Covers: FLT_A01
TEST(ReplicaAloneTest, AReplicaDestroyedInAnAsyncCallbackIsClosedSoonAfterwards) {
  Cluster cluster(1);
  std::promise<void> gone, begun;
  std::unique_ptr<Replica> replica = open_mortal(cluster.options(1), gone);
  replica->put_async("k", "v", {.timeout = kPatience}, [&](const absl::StatusOr<PutResult>& put) {
    EXPECT_THAT(put.status(), IsOk());
    begun.get_future().wait();
    replica.reset();
  });
  begun.set_value();
  gone.get_future().wait();
  EXPECT_THAT(Replica::open(cluster.options(1)).status(), IsOk());
}

// Covers: FLT_A01
TEST(ReplicaAloneTest, InAnAnnouncementAReplicaIsDestroyedAndOpenedAgain) {
  Cluster cluster(1);
  std::promise<void> gone;
  std::promise<std::unique_ptr<Replica>> opened;
  std::promise<absl::Status> again;
  std::atomic<bool> first{true};
  ReplicaOptions options = cluster.options(1);
  options.on_leadership = [&](const raft::Leadership&) {
    if (!first.exchange(false)) return;
    opened.get_future().get().reset();
    again.set_value(Replica::open(cluster.options(1)).status());
  };
  opened.set_value(open_mortal(std::move(options), gone));
  EXPECT_THAT(again.get_future().get(), IsOk());
  gone.get_future().wait();
}

// Covers: FLT_A03
TEST(ReplicaAloneTest, WhoClosesWaitsForTheAnnouncementThatClosedBefore) {
  Cluster cluster(1);
  std::promise<Replica*> opened;
  std::promise<void> closed;
  std::atomic<bool> first{true}, over{false};
  ReplicaOptions options = cluster.options(1);
  options.on_leadership = [&](const raft::Leadership&) {
    if (!first.exchange(false)) return;
    EXPECT_THAT(opened.get_future().get()->close(), IsOk());
    closed.set_value();
    EXPECT_THAT(Replica::open(cluster.options(1)).status(), IsOk());
    over = true;
  };
  ASSERT_NO_FATAL_FAILURE(cluster.open(std::move(options)));
  opened.set_value(&cluster[1]);
  closed.get_future().wait();
  EXPECT_THAT(cluster[1].close(), IsOk());
  EXPECT_TRUE(over);
}

// Covers: S-62
TEST(ReplicaAloneTest, WithoutTheOthersItSaysWhomItWaitsFor) {
  Cluster cluster(3);
  cluster.open(1);
  const absl::Status ready = cluster[1].wait_ready(100ms);
  EXPECT_THAT(ready, HasCode(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(std::string(ready.message()), ::testing::HasSubstr("2"));
  EXPECT_EQ(cluster[1].health().state, ReplicaState::WaitingForMembers);
  EXPECT_FALSE(cluster[1].open_session({.timeout = 50ms}).ok());
}

}  // namespace
}  // namespace coordkit::testkit

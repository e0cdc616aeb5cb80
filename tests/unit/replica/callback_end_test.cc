// How streams of callbacks end: by end(), by a destructor or by a move assignment, while a call of the callback is under way.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "coordkit/coordkit.h"
#include "coordkit/transport/loopback_transport.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

// A callback that stops in its first call until it may continue.
class Slow {
 public:
  void operator()() {
    std::unique_lock lock(mutex_);
    ++begun_;
    wake_.notify_all();
    wake_.wait(lock, [this] { return open_; });
    ++done_;
    wake_.notify_all();
  }
  void await_begin() {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(wake_.wait_for(lock, kPatience, [this] { return begun_ > 0; }));
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    wake_.notify_all();
  }
  int begun() {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  int under_way() {
    const std::lock_guard lock(mutex_);
    return begun_ - done_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool open_ = false;
  int begun_ = 0;
  int done_ = 0;
};

// One replica in memory.
class CallbackEndTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Replica>> opened =
        Replica::open({.id = 1, .cluster = "test", .members = {{1, "one"}}, .parts = in_memory(hub_)});
    ASSERT_THAT(opened.status(), IsOk());
    replica_ = *std::move(opened);
    ASSERT_THAT(replica_->wait_ready(kPatience), IsOk());
    session_ = replica_->open_session({.ttl = 60s}).value();
  }

  // Ends what `slow` is called by, on a thread of its own, while a call is under way; returns how many calls were still under
  // way when that returned. The call continues once the end has begun, or waits.
  int under_way_after(Slow& slow, const std::function<void()>& end) {
    slow.await_begin();
    chances_ = 0;
    std::promise<void> begins;
    std::promise<int> left;
    std::thread ends([&] {
      begins.set_value();
      end();
      left.set_value(slow.under_way());
    });
    begins.get_future().wait();
    std::future<int> over = left.get_future();
    while (!before_the_wait(over)) std::this_thread::yield();
    slow.let_go();
    ends.join();
    return over.get();
  }

  LoopbackHub hub_;
  std::unique_ptr<Replica> replica_;
  Session session_;

 private:
  // The end has returned too early, or had many chances to.
  bool before_the_wait(std::future<int>& over) { return over.wait_for(0s) == std::future_status::ready || ++chances_ > 2'000; }
  int chances_ = 0;
};

// Covers: S-66 FLT_A03
TEST_F(CallbackEndTest, TheDestructorOfAnObservationWaitsForItsObserver) {
  Slow slow;
  auto seen = std::make_unique<Observation>(Counter(*replica_, "n").observe([&](const CounterSeen&) { slow(); }));
  EXPECT_EQ(under_way_after(slow, [&] { seen.reset(); }), 0);
}

// Covers: S-66 FLT_A03
TEST_F(CallbackEndTest, TheDestructorOfAWatchWaitsForItsObserver) {
  Slow slow;
  auto watch = std::make_unique<Watch>(*replica_, WatchOptions::of("k"), [&](const WatchBatch&) { slow(); });
  EXPECT_EQ(under_way_after(slow, [&] { watch.reset(); }), 0);
}

// Covers: S-66 FLT_A03
TEST_F(CallbackEndTest, TheDestructorOfAMirrorWaitsForItsObserver) {
  Slow slow;
  auto mirror = std::make_unique<Mirror>(*replica_, MirrorOptions::prefix("m/"),
                                         [&](const MirrorSeen&, const MirrorEntries&) { slow(); });
  EXPECT_EQ(under_way_after(slow, [&] { mirror.reset(); }), 0);
}

// Covers: S-66 FLT_A03
TEST_F(CallbackEndTest, TheDestructorOfAConfigWaitsForOnChange) {
  Slow slow;
  const auto decode = [](const MirrorEntries& all) -> absl::StatusOr<size_t> { return all.size(); };
  auto config =
      std::make_unique<Config<size_t>>(*replica_, MirrorOptions::prefix("m/"), decode, [&](const size_t&) { slow(); });
  EXPECT_EQ(under_way_after(slow, [&] { config.reset(); }), 0);
}

// Covers: S-66
TEST_F(CallbackEndTest, TheEndOfASessionsLastHandleWaitsForOnPhase) {
  Slow slow;
  Session session = replica_->open_session({.on_phase = [&](SessionPhase) { slow(); }}).value();
  EXPECT_EQ(under_way_after(slow, [&] { session = Session(); }), 0);
}

// Covers: S-66
TEST_F(CallbackEndTest, TheEndOfALeasesLastHandleWaitsForOnPhase) {
  Slow slow;
  KeyLease lease = Leases(*replica_).keep({.on_phase = [&](SessionPhase) { slow(); }}).value();
  EXPECT_EQ(under_way_after(slow, [&] { lease = KeyLease(); }), 0);
}

// Covers: S-66
TEST_F(CallbackEndTest, EachStreamHasAnEndThatWaits) {
  {
    Slow slow;
    Observation seen = Counter(*replica_, "n").observe([&](const CounterSeen&) { slow(); });
    EXPECT_EQ(under_way_after(slow, [&] { seen.end(); }), 0);
    seen.end();  // once more
  }
  {
    Slow slow;
    Watch watch(*replica_, WatchOptions::of("k"), [&](const WatchBatch&) { slow(); });
    EXPECT_EQ(under_way_after(slow, [&] { watch.end(); }), 0);
    watch.end();
  }
  {
    Slow slow;
    Mirror mirror(*replica_, MirrorOptions::prefix("m/"), [&](const MirrorSeen&, const MirrorEntries&) { slow(); });
    EXPECT_EQ(under_way_after(slow, [&] { mirror.end(); }), 0);
    mirror.end();
    EXPECT_THAT(mirror.wait_ready(kPatience), IsOk()) << "the copy is still there";
  }
  {
    Slow slow;
    Config<int> config(*replica_, MirrorOptions::prefix("m/"), [&](const MirrorEntries&) -> absl::StatusOr<int> {
      slow();
      return 1;
    });
    EXPECT_EQ(under_way_after(slow, [&] { config.end(); }), 0);
    config.end();
    EXPECT_THAT(config.problem(), Is(Reason::Closed));
  }
  {
    Slow slow;
    Session session = replica_->open_session({.on_phase = [&](SessionPhase) { slow(); }}).value();
    EXPECT_EQ(under_way_after(slow, [&] { EXPECT_THAT(session.close(), IsOk()); }), 0);
    EXPECT_EQ(slow.begun(), 1) << "the end that it brought about itself is not reported";
  }
  {
    Slow slow;
    KeyLease lease = Leases(*replica_).keep({.on_phase = [&](SessionPhase) { slow(); }}).value();
    EXPECT_EQ(under_way_after(slow, [&] { EXPECT_THAT(lease.revoke(), IsOk()); }), 0);
    EXPECT_EQ(slow.begun(), 1);
  }
}

// Covers: S-66
TEST_F(CallbackEndTest, AMoveAssignmentWaitsForTheObserverOfWhatItReplaces) {
  Slow one, two, three;
  Observation seen = Counter(*replica_, "n").observe([&](const CounterSeen&) { one(); });
  EXPECT_EQ(under_way_after(one, [&] { seen = Observation(); }), 0);
  Watch watch(*replica_, WatchOptions::of("k"), [&](const WatchBatch&) { two(); });
  EXPECT_EQ(under_way_after(two, [&] { watch = Watch(); }), 0);
  Mirror mirror(*replica_, MirrorOptions::prefix("m/"), [&](const MirrorSeen&, const MirrorEntries&) { three(); });
  EXPECT_EQ(under_way_after(three, [&] { mirror = Mirror(); }), 0);
}

// The first call ends the stream while more are due.
// Covers: S-66
TEST_F(CallbackEndTest, InsideItsOwnCallbackAnEndWaitsForNothingAndThatCallIsTheLast) {
  std::promise<void> go;
  const std::shared_future<void> may_go = go.get_future().share();
  std::atomic<int> calls{0};
  Observation seen;
  Watch watch;
  Mirror mirror;
  seen = Counter(*replica_, "n").observe([&](const CounterSeen&) { may_go.wait(), seen.end(), ++calls; });
  watch = Watch(*replica_, WatchOptions::prefix("m/"), [&](const WatchBatch&) { may_go.wait(), watch = Watch(), ++calls; });
  mirror = Mirror(*replica_, MirrorOptions::prefix("m/"),
                  [&](const MirrorSeen&, const MirrorEntries&) { may_go.wait(), mirror = Mirror(), ++calls; });
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(Counter(*replica_, "n").add().status(), IsOk());
    ASSERT_THAT(replica_->put("m/k", "v").status(), IsOk());
  }
  go.set_value();
  ASSERT_TRUE(eventually([&] { return calls == 3; }));
  ASSERT_THAT(replica_->close(), IsOk());  // whatever was due has run
  EXPECT_EQ(calls, 3);
}

// Covers: S-66
TEST_F(CallbackEndTest, ASessionThatOnPhaseClosesIsReportedNoMore) {
  Session session;
  std::vector<SessionPhase> phases;
  std::promise<absl::Status> closed;
  std::promise<void> opened;
  auto on_phase = [&, ready = opened.get_future().share()](SessionPhase phase) {
    phases.push_back(phase);
    ready.wait();
    closed.set_value(session.close());
  };
  session = replica_->open_session({.on_phase = std::move(on_phase)}).value();
  opened.set_value();
  EXPECT_THAT(closed.get_future().get(), IsOk());
  ASSERT_THAT(replica_->close(), IsOk());
  EXPECT_EQ(phases, std::vector{SessionPhase::Valid});
}

// Covers: S-66
TEST_F(CallbackEndTest, WhatACallbackCapturedIsGoneWhenItsStreamHasEnded) {
  const auto kept = std::make_shared<int>(1);
  Observation seen = Counter(*replica_, "n").observe([kept](const CounterSeen&) {});
  Watch watch(*replica_, WatchOptions::of("k"), [kept](const WatchBatch&) {});
  Mirror mirror(*replica_, MirrorOptions::prefix("m/"), [kept](const MirrorSeen&, const MirrorEntries&) {});
  Session session = replica_->open_session({.on_phase = [kept](SessionPhase) {}}).value();
  EXPECT_EQ(kept.use_count(), 5);
  seen.end(), watch.end(), mirror.end();
  ASSERT_THAT(session.close(), IsOk());
  EXPECT_EQ(kept.use_count(), 1);
}

// Covers: S-66
TEST_F(CallbackEndTest, ACallbackThatEndsItsStreamKeepsWhatItCapturedUntilItReturns) {
  auto kept = std::make_shared<int>(1);
  const std::weak_ptr<int> still = kept;
  std::promise<bool> there;
  Observation seen;
  std::promise<void> made;
  seen = Counter(*replica_, "n").observe([&, kept = std::move(kept), ready = made.get_future().share()](const CounterSeen&) {
    ready.wait();
    seen.end();
    there.set_value(*kept == 1);
  });
  made.set_value();
  EXPECT_TRUE(there.get_future().get());
  EXPECT_TRUE(eventually([&] { return still.expired(); }));
}

// Without that the two threads would wait for each other: the engine's answers the call.
// Covers: S-66
TEST_F(CallbackEndTest, AnEndOnTheEnginesThreadEndsTheBlockingCallThatTheCallbackIsIn) {
  absl::StatusOr<Grant> held = session_.acquire("held", {.owner = "other"});
  ASSERT_THAT(held.status(), IsOk());
  std::promise<void> asks, ended;
  absl::Status answer, second;
  auto seen = std::make_unique<Observation>(Counter(*replica_, "n").observe([&](const CounterSeen&) {
    asks.set_value();
    answer = session_.acquire("held").status();
    second = session_.acquire("held").status();
  }));
  asks.get_future().wait();
  replica_->get_async("k", {}, [&](const absl::StatusOr<GetResult>&) {
    seen.reset();
    ended.set_value();
  });
  ended.get_future().wait();
  EXPECT_THAT(answer, Is(Reason::CancelPending));
  EXPECT_THAT(second, Is(Reason::CancelPending));
  EXPECT_TRUE(eventually([&] { return replica_->queue("held")->waiters.empty(); })) << "nobody stays in line for it";
}

// The answers of a replica that is closed come while it closes, and may end the stream of the very callback that closes it.
// Covers: S-66
TEST_F(CallbackEndTest, ACallbackThatClosesTheReplicaIsNotWaitedForByItsAnswers) {
  const Grant held = session_.acquire("held", {.owner = "other"}).value();
  std::promise<void> made;
  std::promise<absl::Status> closed;
  auto seen =
      std::make_unique<Observation>(Counter(*replica_, "n").observe([&, ready = made.get_future().share()](const CounterSeen&) {
        ready.wait();
        closed.set_value(replica_->close());
      }));
  session_.acquire_async("held", {}, [&](const absl::StatusOr<Grant>&) { seen.reset(); });
  made.set_value();
  EXPECT_THAT(closed.get_future().get(), IsOk());
  ASSERT_THAT(replica_->close(), IsOk());
  EXPECT_EQ(seen, nullptr);
}

// Covers: S-66
TEST_F(CallbackEndTest, AfterTheCloseAnEndHasNothingToWaitFor) {
  std::atomic<int> calls{0};
  Observation seen = Counter(*replica_, "n").observe([&](const CounterSeen&) { ++calls; });
  Mirror mirror(*replica_, MirrorOptions::prefix("m/"), [&](const MirrorSeen&, const MirrorEntries&) { ++calls; });
  Watch watch(*replica_, WatchOptions::of("k"), [&](const WatchBatch&) { ++calls; });
  ASSERT_THAT(replica_->close(), IsOk());
  const int before = calls;
  seen.end(), mirror.end(), watch.end();
  // On a closed replica an observer is called on the caller's thread, inside of what makes it.
  Mirror late;
  late = Mirror(*replica_, MirrorOptions::prefix("m/"), [&](const MirrorSeen& now, const MirrorEntries&) {
    EXPECT_EQ(now.what, MirrorSeen::What::Ended);
    ++calls;
  });
  EXPECT_EQ(calls, before + 1);
  replica_.reset();
  seen.end(), mirror.end(), watch.end(), late.end();
  EXPECT_EQ(calls, before + 1);
}

// The child has none of the threads that could be in a call.
// Covers: S-66
TEST_F(CallbackEndTest, InAForkedChildAnEndDoesNotWait) {
  Slow slow;
  auto seen = std::make_unique<Observation>(Counter(*replica_, "n").observe([&](const CounterSeen&) { slow(); }));
  auto mirror = std::make_unique<Mirror>(*replica_, MirrorOptions::prefix("m/"),
                                         [&](const MirrorSeen&, const MirrorEntries&) { slow(); });
  slow.await_begin();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    seen.reset();
    mirror.reset();
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  slow.let_go();
}

// An executor of the host's with one thread, which is not the callback thread.
// Covers: S-66
TEST(CallbackEndOnAnExecutorTest, AnEndInATurnWaitsForTheObserverAndForNoCallOfIts) {
  class OneThread final : public Executor {
   public:
    OneThread() : thread_([this] { run(); }) {}
    ~OneThread() override {
      post([this] { over_ = true; });
      thread_.join();
    }
    void post(Task task) override {
      const std::lock_guard lock(mutex_);
      tasks_.emplace(std::chrono::steady_clock::now(), std::move(task));
      wake_.notify_one();
    }
    void post_after(Duration delay, Task task) override {
      const std::lock_guard lock(mutex_);
      tasks_.emplace(std::chrono::steady_clock::now() + delay, std::move(task));
      wake_.notify_one();
    }

   private:
    void run() {
      std::unique_lock lock(mutex_);
      while (!over_) {
        if (tasks_.empty()) {
          wake_.wait(lock);
        } else if (tasks_.begin()->first > std::chrono::steady_clock::now()) {
          wake_.wait_until(lock, tasks_.begin()->first);
        } else {
          Task task = std::move(tasks_.extract(tasks_.begin()).mapped());
          lock.unlock();
          std::move(task)();
          task = nullptr;
          lock.lock();
        }
      }
    }
    std::mutex mutex_;
    std::condition_variable wake_;
    std::multimap<std::chrono::steady_clock::time_point, Task> tasks_;
    bool over_ = false;
    std::thread thread_;
  };
  LoopbackHub hub;
  Parts parts = in_memory(hub);
  parts.executor = std::make_shared<OneThread>();
  auto replica = Replica::open({.id = 1, .cluster = "test", .members = {{1, "one"}}, .parts = parts}).value();
  ASSERT_THAT(replica->wait_ready(kPatience), IsOk());
  std::promise<void> asks, ended;
  absl::Status answer;
  auto seen = std::make_unique<Observation>(Counter(*replica, "n").observe([&](const CounterSeen&) {
    asks.set_value();
    while (answer.ok()) answer = replica->put("k", "v").status();
  }));
  asks.get_future().wait();
  replica->get_async("k", {}, [&](const absl::StatusOr<GetResult>&) {
    seen.reset();
    ended.set_value();
  });
  ended.get_future().wait();
  EXPECT_THAT(answer, Is(Reason::CancelPending));
}

TEST_F(CallbackEndTest, EveryBatchHasARangeOfEventsWhichMayBeEmpty) {
  Watch watch(*replica_, WatchOptions::of("k"));
  int events = 0;
  absl::StatusOr<WatchBatch> first = watch.next(kPatience);
  ASSERT_THAT(first.status(), IsOk());
  EXPECT_EQ(first->what, WatchBatch::What::Created);
  for (const WatchEvent& event : first->events) events += event.deleted() ? 1 : 1;
  EXPECT_EQ(events, 0);
  ASSERT_THAT(replica_->put("k", "v").status(), IsOk());
  absl::StatusOr<WatchBatch> second = watch.next(kPatience);
  ASSERT_THAT(second.status(), IsOk());
  ASSERT_EQ(second->events.size(), 1u);
  EXPECT_EQ(second->events.front().entry.value, "v");
  EXPECT_EQ(MirrorSeen().events.begin(), MirrorSeen().events.end());
}

// Once end() has returned no call begins or is under way, whatever the callback thread had in its queue.
// Covers: S-66
TEST_F(CallbackEndTest, ManyStreamsThatEndWhileTheyAreCalledAreNeverCalledAfterwards) {
  Counter counter(*replica_, "n");
  std::atomic<bool> over{false};
  std::thread adds([&] {
    while (!over) EXPECT_THAT(counter.add().status(), IsOk());
  });
  for (int round = 0; round < 100; ++round) {
    auto alive = std::make_unique<std::atomic<int>>(0);
    Observation seen = counter.observe([alive = alive.get()](const CounterSeen&) { ++*alive; });
    Watch watch(*replica_, WatchOptions::of("k"), [alive = alive.get()](const WatchBatch&) { ++*alive; });
    while (*alive < round % 4) std::this_thread::yield();
    seen.end();
    watch.end();
    const int calls = *alive;
    EXPECT_THAT(replica_->put("k", "v").status(), IsOk());
    EXPECT_EQ(*alive, calls);
  }
  over = true;
  adds.join();
}

}  // namespace
}  // namespace coordkit::testkit

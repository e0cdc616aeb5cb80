// Semaphores, barriers, queues, counters, groups and elections through three real replicas.
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "coordkit/coordkit.h"
#include "coordkit/objects/barrier.h"
#include "coordkit/objects/claim_queue.h"
#include "coordkit/objects/counter.h"
#include "coordkit/objects/election.h"
#include "coordkit/objects/group.h"
#include "coordkit/objects/latch.h"
#include "coordkit/objects/semaphore.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class CoordinationTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.open_all(); }
  Cluster cluster_;
};

// Covers: S-50 REG_F53
TEST_F(CoordinationTest, PermitsOfASessionAreFreeWithItAndNoMoreThanTheLimitAreHeld) {
  Session a = cluster_.session(1), b = cluster_.session(2);
  Semaphore here(a, "s"), there(b, "s");
  ASSERT_THAT(here.set_limit(3), IsOk());
  absl::StatusOr<Grant> two = here.acquire({.permits = 2, .timeout = kPatience});
  ASSERT_THAT(two.status(), IsOk());
  EXPECT_TRUE(two->valid());
  EXPECT_THAT(there.try_acquire({.permits = 2}).status(), Is(Reason::Held));
  std::promise<absl::StatusOr<Grant>> waiting;
  there.acquire_async({.permits = 2, .timeout = kForever},
                      [&](absl::StatusOr<Grant> grant) { waiting.set_value(std::move(grant)); });
  ASSERT_THAT(a.close(), IsOk());
  absl::StatusOr<Grant> next = waiting.get_future().get();
  ASSERT_THAT(next.status(), IsOk());
  EXPECT_FALSE(two->valid());
  EXPECT_GT(next->token(), two->token());
  EXPECT_EQ(there.info()->held, 2u);
  EXPECT_THAT(there.remove(), Is(Reason::Held));
  EXPECT_THAT(next->release(), IsOk());
  EXPECT_THAT(there.remove(), IsOk());
}

// Covers: S-59
TEST_F(CoordinationTest, AWaitOfEachKindIsCancelledAloneAndLeavesNothing) {
  Session a = cluster_.session(1), b = cluster_.session(2);
  Grant permits = Semaphore(a, "s").acquire({.initial_limit = 1}).value();
  ASSERT_THAT(Latch(a, "l").create(1), IsOk());
  ASSERT_THAT(Barrier(a, "b").close(), IsOk());
  Grant leads = Election(a, "e").campaign("a").value();
  std::vector<std::promise<absl::Status>> ends(6);
  const auto note = [&](size_t i) {
    return [&ends, i](auto answer) {
      if constexpr (std::is_same_v<decltype(answer), absl::Status>) {
        ends[i].set_value(std::move(answer));
      } else {
        ends[i].set_value(answer.status());
      }
    };
  };
  const std::vector<AsyncCall> calls = {
      Semaphore(b, "s").acquire_async({}, note(0)),  Latch(b, "l").wait_async(kForever, note(1)),
      Barrier(b, "b").wait_async(kForever, note(2)), DoubleBarrier(b, "d", 2).enter_async(kForever, note(3)),
      ClaimQueue(b, "q").claim_async({}, note(4)),   Election(b, "e").campaign_async("b", kForever, note(5))};
  while (cluster_[1].queue("e")->waiters.empty()) {
  }
  for (const AsyncCall& call : calls) call.cancel();
  for (std::promise<absl::Status>& end : ends) EXPECT_THAT(end.get_future().get(), Is(Reason::Cancelled));
  EXPECT_EQ(Semaphore(a, "s").info()->waiters, 0u);
  EXPECT_EQ(Latch(a, "l").info()->waiters, 0u);
  EXPECT_EQ(Barrier(a, "b").info()->waiters, 0u);
  EXPECT_FALSE(DoubleBarrier(a, "d", 2).info()->exists);
  EXPECT_EQ(ClaimQueue(a, "q").peek()->waiters, 0u);
  EXPECT_THAT(cluster_[1].queue("e")->waiters, SizeIs(0));
}

// Covers: S-37
TEST_F(CoordinationTest, WhoMayLeadAlreadyProclaimsOrCampaigns) {
  Election election(cluster_.session(1), "e");
  Grant leadership;
  const Token token = election.campaign_or_proclaim(leadership, "first").value();
  EXPECT_TRUE(leadership.valid());
  EXPECT_EQ(election.campaign_or_proclaim(leadership, "second").value(), token);
  EXPECT_EQ((*election.leader())->value, "second");
  Grant another;
  EXPECT_THAT(election.campaign_or_proclaim(another, "third").status(), Is(Reason::AlreadyHeld));
  EXPECT_THAT(leadership.release(), IsOk());
  EXPECT_GT(election.campaign_or_proclaim(leadership, "fourth").value(), token);
}

// Covers: S-37
TEST_F(CoordinationTest, ALatchAndABarrierReleaseWaitersOnOtherReplicas) {
  Session a = cluster_.session(1), b = cluster_.session(2);
  Latch latch(a, "l");
  Barrier barrier(a, "b");
  ASSERT_THAT(latch.create(2), IsOk());
  ASSERT_THAT(barrier.close(), IsOk());
  std::promise<absl::Status> counted, opened;
  Latch(b, "l").wait_async(kForever, [&](absl::Status status) { counted.set_value(std::move(status)); });
  Barrier(b, "b").wait_async(kForever, [&](absl::Status status) { opened.set_value(std::move(status)); });
  EXPECT_EQ(*latch.count_down(), 1u);
  EXPECT_EQ(*latch.count_down(), 0u);
  EXPECT_THAT(counted.get_future().get(), IsOk());
  EXPECT_THAT(barrier.wait(Duration::zero()), Is(Reason::Held));
  EXPECT_THAT(barrier.open(), IsOk());
  EXPECT_THAT(opened.get_future().get(), IsOk());
  EXPECT_THAT(barrier.wait(Duration::zero()), IsOk());
  EXPECT_THAT(barrier.open(), Is(Reason::NotFound));
}

// Covers: REG_F52
TEST_F(CoordinationTest, PartiesPassADoubleBarrierTogetherAgainAndAgain) {
  constexpr int kCycles = 5;
  std::atomic<int> inside{0};
  std::vector<std::thread> parties;
  for (uint64_t id = 1; id <= 3; ++id) {
    parties.emplace_back([&, id] {
      DoubleBarrier barrier(cluster_.session(id), "d", 3);
      for (int cycle = 1; cycle <= kCycles; ++cycle) {
        absl::StatusOr<Grant> place = barrier.enter();
        ASSERT_THAT(place.status(), IsOk());
        ++inside;
        ASSERT_THAT(barrier.leave(*place), IsOk());
        EXPECT_GE(inside.load(), 3 * cycle) << "no one leaves before all have entered";
      }
    });
  }
  for (std::thread& party : parties) party.join();
  EXPECT_EQ(inside.load(), 3 * kCycles);
}

// Covers: S-37
TEST_F(CoordinationTest, EveryItemOfAQueueIsAcknowledgedByOneWorker) {
  constexpr int kItems = 30;
  ClaimQueue producer(cluster_.session(1), "q");
  for (int i = 0; i < kItems; ++i) ASSERT_THAT(producer.enqueue(std::to_string(i), i % 3).status(), IsOk());
  std::mutex guard;
  std::multiset<std::string> done;
  std::vector<std::thread> workers;
  for (uint64_t id = 1; id <= 3; ++id) {
    workers.emplace_back([&, id] {
      ClaimQueue queue(cluster_.session(id), "q");
      for (;;) {
        absl::StatusOr<WorkItem> item = queue.claim({.timeout = Duration::zero(), .term = 10min});
        if (!item.ok()) {
          EXPECT_THAT(item.status(), Is(Reason::Held));
          return;
        }
        ASSERT_THAT(queue.acknowledge(*item), IsOk());
        const std::lock_guard lock(guard);
        done.insert(item->value);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_THAT(done, SizeIs(kItems));
  EXPECT_EQ(std::set<std::string>(done.begin(), done.end()).size(), size_t{kItems});
  EXPECT_EQ(producer.peek()->claimed, 0u);
}

// Covers: S-37
TEST_F(CoordinationTest, AnItemNeedOnlyOutliveTheStartOfItsAcknowledgement) {
  ClaimQueue queue(cluster_.session(1), "q");
  ASSERT_THAT(queue.enqueue("one").status(), IsOk());
  ASSERT_THAT(queue.enqueue("two").status(), IsOk());
  std::promise<absl::Status> inside, outside;
  queue.claim_async({}, [&](absl::StatusOr<WorkItem> item) {
    ASSERT_THAT(item.status(), IsOk());
    queue.acknowledge_async(*item, [&](absl::Status status) { inside.set_value(std::move(status)); });
    EXPECT_FALSE(item->grant.valid());
  });
  EXPECT_THAT(inside.get_future().get(), IsOk());
  {
    absl::StatusOr<WorkItem> item = queue.claim({.timeout = kPatience});
    ASSERT_THAT(item.status(), IsOk());
    queue.acknowledge_async(*item, [&](absl::Status status) { outside.set_value(std::move(status)); });
  }
  EXPECT_THAT(outside.get_future().get(), IsOk());
  EXPECT_THAT(queue.claim({.timeout = Duration::zero()}).status(), Is(Reason::Held));
}

// Covers: S-37
TEST_F(CoordinationTest, APlaceNeedOnlyOutliveTheStartOfItsLeave) {
  DoubleBarrier here(cluster_.session(1), "d", 2), there(cluster_.session(2), "d", 2);
  std::promise<absl::StatusOr<Grant>> entered;
  there.enter_async(kPatience, [&](absl::StatusOr<Grant> place) { entered.set_value(std::move(place)); });
  std::promise<absl::Status> left;
  {
    absl::StatusOr<Grant> place = here.enter(kPatience);
    ASSERT_THAT(place.status(), IsOk());
    here.leave_async(*place, kPatience, [&](absl::Status status) { left.set_value(std::move(status)); });
  }
  absl::StatusOr<Grant> theirs = entered.get_future().get();
  ASSERT_THAT(theirs.status(), IsOk());
  EXPECT_THAT(there.leave(*theirs, kPatience), IsOk());
  EXPECT_THAT(left.get_future().get(), IsOk());
}

// Covers: S-37
TEST_F(CoordinationTest, AllocatedNumbersAreUniqueOverAllReplicas) {
  std::mutex guard;
  std::set<int64_t> numbers;
  std::vector<std::thread> takers;
  for (uint64_t id = 1; id <= 3; ++id) {
    takers.emplace_back([&, id] {
      Counter ids(cluster_[id], "ids");
      for (int i = 0; i < 10; ++i) {
        absl::StatusOr<int64_t> first = ids.allocate(2);
        ASSERT_THAT(first.status(), IsOk());
        const std::lock_guard lock(guard);
        EXPECT_TRUE(numbers.insert(*first).second);
        EXPECT_TRUE(numbers.insert(*first + 1).second);
      }
    });
  }
  for (std::thread& taker : takers) taker.join();
  EXPECT_EQ(*Counter(cluster_[1], "ids").get(), 60);
  EXPECT_EQ(*numbers.rbegin(), 60);
}

// Collects an observer's events, until a test has seen the awaited one.
template <typename T>
class Collected {
 public:
  Observer<T> observer() {
    return [place = place_](const T& seen) {
      const std::lock_guard lock(place->guard);
      place->all.push_back(seen);
      place->more.notify_all();
    };
  }
  template <typename Enough>
  std::vector<T> until(Enough enough) {
    std::unique_lock lock(place_->guard);
    place_->more.wait(lock, [&] { return !place_->all.empty() && enough(place_->all.back()); });
    return place_->all;
  }

 private:
  struct Place {
    std::mutex guard;
    std::condition_variable more;
    std::vector<T> all;
  };
  std::shared_ptr<Place> place_ = std::make_shared<Place>();  // the last call may come after the end of the observation
};

// Covers: S-37
TEST_F(CoordinationTest, AnElectionIsObservedOnAnotherReplicaInOrder) {
  Collected<LeaderSeen> collected;
  Session a = cluster_.session(1), b = cluster_.session(2), onlooker = cluster_.session(3);
  const Observation observation = Election(onlooker, "e").observe(collected.observer());
  collected.until([](const LeaderSeen& seen) { return seen.how == Seen::Snapshot; });
  Election here(a, "e"), there(b, "e");
  absl::StatusOr<Grant> first = here.campaign("a");
  ASSERT_THAT(first.status(), IsOk());
  std::promise<absl::StatusOr<Grant>> next;
  there.campaign_async("b", kForever, [&](absl::StatusOr<Grant> grant) { next.set_value(std::move(grant)); });
  EXPECT_THAT(here.proclaim(*first, "a again"), IsOk());
  while (cluster_[1].queue("e")->waiters.empty()) {
  }
  EXPECT_THAT(here.resign(*std::move(first)), IsOk());
  absl::StatusOr<Grant> second = next.get_future().get();
  ASSERT_THAT(second.status(), IsOk());
  ASSERT_TRUE(there.leader()->has_value());
  EXPECT_EQ((*there.leader())->token, second->token());
  EXPECT_THAT(there.resign(*std::move(second)), IsOk());
  std::vector<std::string> leaders;
  Index last;
  for (const LeaderSeen& seen : collected.until([](const LeaderSeen& s) { return s.how == Seen::Change && !s.leader; })) {
    leaders.push_back(seen.leader ? seen.leader->value : "vacant");
    EXPECT_GE(seen.index, last);
    last = seen.index;
  }
  EXPECT_THAT(leaders, ElementsAre("vacant", "a", "a again", "b", "vacant"));
}

// An announcement that needs no turn of the engine: the callback thread runs `then` after all that was queued before.
Mirror announced(const Replica& replica, std::function<void()> then) {
  const MirrorOptions empty{.key = "b", .end = "a"};
  return {replica, empty, [then = std::move(then)](const MirrorSeen&, const MirrorEntries&) { then(); }};
}

// Their news is queued behind another callback, and the engine does not hear of their ends before it was run.
// Covers: S-27 S-37
TEST_F(CoordinationTest, NoCallOfAnObserverBeginsAfterTheEndOfItsHandle) {
  std::atomic<int> counts{0}, batches{0}, copies{0};
  Counter counter(cluster_[1], "c");
  Kv kv(cluster_[1]);
  Observation observation = counter.observe([&](const CounterSeen&) { ++counts; });
  std::optional<Watch> watch(std::in_place, cluster_[1], WatchOptions::of("k"), [&](const WatchBatch&) { ++batches; });
  std::optional<Mirror> mirror(std::in_place, cluster_[1], MirrorOptions{.key = "k", .end = "l"},
                               [&](const MirrorSeen&, const MirrorEntries&) { ++copies; });
  ASSERT_TRUE(eventually([&] { return counts == 1 && batches == 1 && copies == 1; }));
  std::promise<void> blocked, unblock, halted, resume, done;
  const Mirror first = announced(cluster_[1], [&] {
    blocked.set_value();
    unblock.get_future().wait();
  });
  blocked.get_future().wait();
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(counter.add(1).status(), IsOk());
    ASSERT_THAT(kv.put("k", "v").status(), IsOk());
  }
  cluster_[1].get_async("k", {}, [&](const absl::StatusOr<GetResult>&) {
    halted.set_value();
    resume.get_future().wait();
  });
  halted.get_future().wait();
  observation.end();
  watch.reset();
  mirror.reset();
  unblock.set_value();
  const Mirror last = announced(cluster_[1], [&] { done.set_value(); });
  done.get_future().wait();
  EXPECT_EQ(counts, 1);
  EXPECT_EQ(batches, 1);
  EXPECT_EQ(copies, 1);
  resume.set_value();
  EXPECT_THAT(kv.get("k").status(), IsOk()) << "the engine is done with that callback";
}

// Covers: S-37
TEST_F(CoordinationTest, AMemberIsGoneForAllWithItsSession) {
  Collected<GroupSeen> collected;
  Session a = cluster_.session(1), b = cluster_.session(2);
  Group here(a, "g"), there(b, "g");
  ASSERT_THAT(here.join("a").status(), IsOk());
  const Observation observation = there.observe(collected.observer());
  collected.until([](const GroupSeen& seen) { return seen.how == Seen::Snapshot; });
  ASSERT_THAT(there.join("b").status(), IsOk());
  EXPECT_THAT(there.update("b2"), IsOk());
  ASSERT_THAT(a.close(), IsOk());
  const auto all = collected.until([](const GroupSeen& seen) { return seen.what == GroupSeen::What::Left; });
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_THAT(all[0].members, SizeIs(1));
  EXPECT_EQ(all[2].members[0].value, "b2");
  EXPECT_EQ(all[3].members[0].value, "a");
  ASSERT_THAT(there.members()->members, SizeIs(1));
  EXPECT_THAT(there.leave(), IsOk());
  EXPECT_THAT(there.leave(), Is(Reason::NotFound));
}

// Covers: REG_F31
TEST_F(CoordinationTest, AllOfItIsThereAfterEveryReplicaWasRestarted) {
  {
    Session a = cluster_.session(1);
    ASSERT_THAT(Counter(cluster_[1], "n").add(7).status(), IsOk());
    ASSERT_THAT(ClaimQueue(a, "q").enqueue("kept").status(), IsOk());
    ASSERT_THAT(Semaphore(a, "s").set_limit(4), IsOk());
    ASSERT_THAT(Latch(a, "l").create(2), IsOk());
  }
  for (uint64_t id = 1; id <= 3; ++id) cluster_.close(id);
  ASSERT_NO_FATAL_FAILURE(cluster_.open_all());
  Session a = cluster_.session(1);
  EXPECT_EQ(*Counter(cluster_[2], "n").get(), 7);
  EXPECT_EQ(Semaphore(a, "s").info()->limit, 4u);
  EXPECT_EQ(Latch(a, "l").info()->count, 2u);
  absl::StatusOr<WorkItem> item = ClaimQueue(a, "q").claim({.timeout = kPatience});
  ASSERT_THAT(item.status(), IsOk());
  EXPECT_EQ(item->value, "kept");
}

TEST_F(CoordinationTest, HandlesWithoutASessionSayWhatToDo) {
  EXPECT_THAT(Semaphore({}, "s").acquire().status(), Is(Reason::Closed));
  EXPECT_THAT(Latch({}, "l").wait(), Is(Reason::Closed));
  EXPECT_THAT(ClaimQueue({}, "q").claim().status(), Is(Reason::Closed));
  EXPECT_THAT(Election({}, "e").campaign().status(), Is(Reason::Closed));
  const Observation nothing = Election({}, "e").observe([](const LeaderSeen&) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace coordkit::testkit

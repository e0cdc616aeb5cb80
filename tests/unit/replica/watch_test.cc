// Watches on real replicas: through changes of leader, closed replicas and slow readers.
#include "coordkit/keys/watch.h"

#include <future>
#include <thread>

#include "coordkit/coordkit.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Le;
using ::testing::SizeIs;

// The deliveries of one watch: every event with its revision, in order.
struct Reader {
  Watch watch;
  std::vector<WatchEvent> events;
  Revision last;       // received, by an event or a progress report
  absl::Status end{};  // once it has ended

  // Reads until `count` events have come, or the watch has ended.
  void read(size_t count) {
    while (events.size() < count) {
      if (!step()) return;
    }
  }
  bool step() {
    absl::StatusOr<WatchBatch> batch = watch.next(kPatience);
    if (!batch.ok()) {
      end = batch.status();
      return false;
    }
    if (batch->what == WatchBatch::What::Events) events.insert(events.end(), batch->events.begin(), batch->events.end());
    if (batch->what != WatchBatch::What::Created && batch->what != WatchBatch::What::Pending) last = batch->revision;
    return true;
  }
  std::vector<std::string> values() const {
    std::vector<std::string> values;
    for (const WatchEvent& event : events) values.push_back(event.deleted() ? "-" : event.entry.value);
    return values;
  }
};

std::vector<std::string> numbers(int first, int last) {
  std::vector<std::string> values;
  for (int i = first; i <= last; ++i) values.push_back(std::to_string(i));
  return values;
}

class WatchTest : public ::testing::Test {
 protected:
  void SetUp() override { cluster_.open_all(); }

  Revision put(uint64_t at, int first, int last) {
    Revision revision;
    for (int i = first; i <= last; ++i) {
      const absl::StatusOr<PutResult> put = Kv(cluster_[at]).put("w/k", std::to_string(i), {.timeout = kPatience});
      EXPECT_THAT(put.status(), IsOk());
      if (put.ok()) revision = put->revision;
    }
    return revision;
  }
  Reader reader(uint64_t at, Revision from = {}) {
    WatchOptions options = WatchOptions::prefix("w/");
    options.from = from;
    return Reader{.watch = Watch(cluster_[at], options)};
  }
  // Nothing put from here on is missed.
  Reader made_reader(uint64_t at) {
    Reader made = reader(at);
    EXPECT_EQ(made.watch.next(kPatience)->what, WatchBatch::What::Created);
    return made;
  }
  uint64_t leader() {
    for (;;) {
      for (uint64_t id = 1; id <= cluster_.size(); ++id) {
        if (cluster_[id].health().role == raft::Role::Leader) return id;
      }
    }
  }
  static uint64_t other(uint64_t id) { return id % 3 + 1; }

  Cluster cluster_;
};

// Covers: S-21 S-24
TEST_F(WatchTest, FromAPastRevisionOnAnyReplicaItTellsAllThatHappenedAndGoesOn) {
  const Revision first = put(1, 0, 9);
  ASSERT_THAT(Kv(cluster_[2]).erase("w/k").status(), IsOk());
  for (uint64_t id = 1; id <= 3; ++id) {
    Reader one = reader(id, Revision(first.value() - 1));
    one.read(3);
    std::vector<std::string> values = one.values();
    values.resize(3);  // puts of an earlier round may be in the same batch
    EXPECT_THAT(values, ElementsAre("8", "9", "-")) << id;
    const std::string later = "w/later" + std::to_string(id);
    const absl::StatusOr<PutResult> put = Kv(cluster_[id]).put(later, "x");
    ASSERT_THAT(put.status(), IsOk());
    while (one.last < put->revision) ASSERT_TRUE(one.step());
    EXPECT_EQ(one.events.back().entry.key, later);
    EXPECT_TRUE(one.events.back().created());
  }
}

// Covers: S-23
TEST_F(WatchTest, ATransactionIsOneBatchAndSeenWholeBesideLinearizableReads) {
  Watch watch(cluster_[3], WatchOptions::prefix("w/"));
  ASSERT_EQ(watch.next(kPatience)->what, WatchBatch::What::Created);
  Kv kv(cluster_[1]);
  const auto done = kv.commit({{}, {PutOperation{.key = "w/a", .value = "1"}, PutOperation{.key = "w/b", .value = "2"}}, {}});
  ASSERT_THAT(done.status(), IsOk());
  const absl::StatusOr<WatchBatch> batch = watch.next(kPatience);
  ASSERT_THAT(batch.status(), IsOk());
  ASSERT_THAT(batch->events, SizeIs(2));
  EXPECT_EQ(batch->revision, done->revision);
}

// Covers: S-25 S-27
TEST_F(WatchTest, ProgressReportsComeWhenAskedForAndNothingAfterTheEnd) {
  Reader one = made_reader(2);
  const Revision last = put(2, 0, 3);
  one.watch.ask_progress();
  while (one.last < last || one.events.size() < 4) ASSERT_TRUE(one.step());
  EXPECT_EQ(one.values(), numbers(0, 3));
  Reader future = reader(1, Revision(1'000'000));
  ASSERT_EQ(future.watch.next(kPatience)->what, WatchBatch::What::Created);
  future.watch.ask_progress();
  EXPECT_EQ(future.watch.next(kPatience)->what, WatchBatch::What::Pending);
  put(2, 4, 4);
  one.watch.end();
  EXPECT_THAT(one.watch.next(kPatience).status(), Is(Reason::Closed)) << "what was not read is gone";
  one.watch.end();
  Watch().end();
}

// Covers: S-22
TEST_F(WatchTest, WhatCannotBeWatchedSaysWhy) {
  EXPECT_THAT(Watch(cluster_[1], {.key = "b", .end = "a"}).next(kPatience).status(), Is(Reason::EmptyRange));
  WatchOptions nothing = WatchOptions::of("a");
  nothing.puts = nothing.deletes = false;
  Watch none(cluster_[1], nothing);
  EXPECT_THAT(none.next(kPatience).status(), Is(Reason::InvalidArgument));
  EXPECT_THAT(none.next(kPatience).status(), Is(Reason::InvalidArgument)) << "and says it again";
  EXPECT_THAT(Watch().next().status(), Is(Reason::Closed));
}

// Its buffer holds a few of the batches; the writers and the other watch do not wait for it.
// Covers: S-28 FLT_O02
TEST_F(WatchTest, ASlowReaderDelaysNobodyAndMissesNothing) {
  WatchOptions small = WatchOptions::prefix("w/");
  small.room = 1 << 10;
  Reader slow{.watch = Watch(cluster_[2], small)};
  ASSERT_EQ(slow.watch.next(kPatience)->what, WatchBatch::What::Created);
  Reader quick = made_reader(2);
  put(1, 0, 299);
  quick.read(300);
  EXPECT_EQ(quick.values(), numbers(0, 299));
  slow.read(300);
  EXPECT_EQ(slow.values(), numbers(0, 299));
  put(3, 300, 309);
  slow.read(310);
  EXPECT_EQ(slow.values(), numbers(0, 309));
}

// Covers: S-28
TEST_F(WatchTest, ASlowReaderWhoseHistoryIsGoneIsToldWhereToBeginAnew) {
  WatchOptions small = WatchOptions::prefix("w/");
  small.room = 1 << 10;
  Reader slow{.watch = Watch(cluster_[3], small)};
  ASSERT_EQ(slow.watch.next(kPatience)->what, WatchBatch::What::Created);
  Reader quick = made_reader(3);
  const Revision last = put(1, 0, 99);
  ASSERT_THAT(Kv(cluster_[1]).compact(last).status(), IsOk());
  quick.read(100);  // by now the compaction has been applied at replica 3, or is about to be
  put(3, 100, 100);
  while (slow.step()) {
  }
  EXPECT_THAT(slow.end, Is(Reason::Compacted));
  EXPECT_THAT(slow.end, HasCode(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(revision_of(slow.end), last) << "where to begin anew, as the sentence says: " << slow.end;
  EXPECT_THAT(std::string(slow.end.message()), EndsWith(" " + std::to_string(last.value())));
  EXPECT_THAT(slow.events.size(), Le(100u));
  EXPECT_EQ(slow.values(), numbers(0, static_cast<int>(slow.events.size()) - 1)) << "no gap before the end";
  Reader again = reader(3, last);
  again.read(2);
  EXPECT_THAT(again.values(), ElementsAre("99", "100"));
}

// Covers: S-28
TEST_F(WatchTest, ChangesOfLeaderAreNotSeen) {
  std::vector<Reader> readers;
  for (uint64_t id = 1; id <= 3; ++id) readers.push_back(made_reader(id));
  int next = 0;
  for (int round = 0; round < 4; ++round) {
    put(other(leader()), next, next + 9);
    next += 10;
    ASSERT_THAT(cluster_[1].transfer_leadership(other(leader()), kPatience), IsOk());
  }
  put(1, next, next + 9);
  for (Reader& one : readers) {
    one.read(50);
    EXPECT_EQ(one.values(), numbers(0, 49));
  }
}

// Covers: S-28
TEST_F(WatchTest, TheDeathOfTheLeaderIsNotSeenAndAWatchIsResumedOnAnotherReplica) {
  const uint64_t dead = leader(), here = other(dead);
  Reader there = made_reader(dead), stays = made_reader(here);
  put(here, 0, 19);
  there.read(10);
  cluster_.close(dead);
  put(here, 20, 39);
  stays.read(40);
  EXPECT_EQ(stays.values(), numbers(0, 39));
  Reader resumed = reader(other(here) == dead ? here : other(here), Revision(there.events.at(9).entry.mod.value() + 1));
  resumed.read(30);
  EXPECT_EQ(resumed.values(), numbers(10, 39));
}

TEST_F(WatchTest, TheCloseOfItsReplicaEndsItAndWakesAllItsReaders) {
  Reader one = made_reader(1);
  std::vector<std::future<absl::Status>> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(std::async(std::launch::async, [&] { return one.watch.next().status(); }));
  }
  Watch other(cluster_[1], WatchOptions::prefix("w/"));
  ASSERT_EQ(other.next(kPatience)->what, WatchBatch::What::Created);
  ASSERT_THAT(cluster_[1].close(), IsOk());
  for (std::future<absl::Status>& reader : waiting) EXPECT_THAT(reader.get(), Is(Reason::Stopped));
  EXPECT_THAT(other.next().status(), Is(Reason::Stopped));
  EXPECT_THAT(other.next().status(), Is(Reason::Stopped)) << "again and again";
  EXPECT_THAT(Watch(cluster_[1], WatchOptions::of("k")).next().status(), Is(Reason::Closed));
}

TEST_F(WatchTest, WhatWasToldBeforeTheCloseIsStillRead) {
  Reader one = made_reader(1), next = made_reader(1);
  put(1, 0, 4);
  next.read(5);  // whatever it received, the first received earlier
  ASSERT_THAT(cluster_[1].close(), IsOk());
  while (one.step()) {
  }
  EXPECT_EQ(one.values(), numbers(0, 4));
  EXPECT_THAT(one.end, Is(Reason::Stopped));
}

TEST_F(WatchTest, AnObserverIsToldOnTheCallbackThreadWhereNobodyMayWaitForTheNextBatch) {
  std::promise<absl::Status> waited;
  std::promise<void> five;
  std::atomic<int> seen{0};
  Watch other(cluster_[1], WatchOptions::prefix("w/"));
  Watch watch(cluster_[1], WatchOptions::prefix("w/"), [&](WatchBatch batch) {
    if (batch.what == WatchBatch::What::Created) waited.set_value(other.next().status());
    if (batch.what == WatchBatch::What::Events && (seen += static_cast<int>(batch.events.size())) == 5) five.set_value();
  });
  EXPECT_THAT(waited.get_future().get(), Is(Reason::InCallback)) << "the batch would come on the very thread that waits";
  EXPECT_THAT(watch.next().status(), Is(Reason::InvalidArgument)) << "its batches go to the observer";
  put(2, 1, 5);
  five.get_future().get();
  watch.end();
  put(1, 6, 7);
  EXPECT_EQ(seen, 5);
}

// Covers: S-27
TEST_F(WatchTest, AnEndInsideAnAsyncCallbackTakesEffectAndWakesTheReaders) {
  Reader one = made_reader(1);
  std::promise<void> ended;  // the reader returns before end() does, and the watch must outlive both
  auto waiting = std::async(std::launch::async, [&] { return one.watch.next().status(); });
  cluster_[1].get_async("k", {}, [&](const absl::StatusOr<GetResult>&) {
    one.watch.end();
    ended.set_value();
  });
  EXPECT_THAT(waiting.get(), Is(Reason::Closed));
  ended.get_future().get();
}

// The engine may forget the watch before end() continues.
// Covers: S-27
TEST_F(WatchTest, AReaderIsToldOfTheEndHoweverTheEngineHurries) {
  for (int round = 0; round < 300; ++round) {
    Watch watch(cluster_[1], WatchOptions::prefix("w/"));
    ASSERT_EQ(watch.next(kPatience)->what, WatchBatch::What::Created);
    auto waiting = std::async(std::launch::async, [&] { return watch.next().status(); });
    watch.end();
    ASSERT_THAT(waiting.get(), Is(Reason::Closed)) << round;
  }
}

TEST_F(WatchTest, ANextThatTimesOutLosesNothing) {
  Reader one = made_reader(1);
  EXPECT_THAT(one.watch.next(1ms).status(), Is(Reason::CallTimeout));
  EXPECT_THAT(one.watch.next(-1ms).status(), Is(Reason::CallTimeout));
  put(2, 0, 0);
  one.read(1);
  EXPECT_EQ(one.values(), numbers(0, 0));
}

// Each step once, whichever replica leads meanwhile.
// Covers: S-41
TEST_F(WatchTest, ACounterByCompareAndSetCountsEveryStepOnceThroughChangesOfLeader) {
  ASSERT_THAT(Kv(cluster_[3]).put("n", "0").status(), IsOk());  // where the watch will be: it has been applied there
  Watch watch(cluster_[3], WatchOptions::of("n"));
  ASSERT_EQ(watch.next(kPatience)->what, WatchBatch::What::Created);
  constexpr int kSteps = 15;
  std::vector<std::thread> threads;
  for (uint64_t id = 1; id <= 3; ++id) {
    threads.emplace_back([&, id] {
      Kv kv(cluster_[id]);
      for (int done = 0; done < kSteps;) {
        const absl::StatusOr<GetResult> seen = kv.get("n", {.timeout = kPatience});
        ASSERT_THAT(seen.status(), IsOk());
        const std::string next = std::to_string(std::stoi(seen->entry->value) + 1);
        const auto result = Txn(kv)
                                .when(Compare::modified("n", Compare::Relation::Equal, seen->entry->mod))
                                .then(PutOperation{.key = "n", .value = next})
                                .commit({.timeout = kPatience});
        ASSERT_THAT(result.status(), IsOk());
        done += result->succeeded ? 1 : 0;
      }
    });
  }
  for (int round = 0; round < 3; ++round) {
    EXPECT_THAT(cluster_[2].transfer_leadership(other(leader()), kPatience), IsOk());
  }
  for (std::thread& thread : threads) thread.join();
  Reader one{.watch = std::move(watch)};
  one.read(size_t{3} * kSteps);
  EXPECT_EQ(one.values(), numbers(1, 3 * kSteps));
  EXPECT_EQ(one.events.back().entry.version, 3u * kSteps + 1) << "nothing else was written";
}

}  // namespace
}  // namespace coordkit::testkit

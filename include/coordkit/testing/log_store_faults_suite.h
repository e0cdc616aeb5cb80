// Conformance suite for log stores, the part about disks that fail and processes that die. Part of
// log_store_suite.h.
//
// A killed process loses the content of its own memory. Only a power cut shows a write that was
// reported and never synced. So offer LogStoreHarness::cut_power() if your medium has a layer that
// can be made to forget.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/testing/child_process.h"
#include "coordkit/testing/log_history.h"
#include "coordkit/testing/log_store_fixture.h"

namespace coordkit::testkit {

// The found log must have at least the reported writes, and nothing that was not written.
inline void expect_prefix(const LogHistory& history, WriteNumber reported, const RecoveredLog& found) {
  const std::optional<uint64_t> writes = history.writes_in(found);
  ASSERT_TRUE(writes) << "the log that is found afterwards is not the result of a prefix of the writes: "
                      << found.entries.size() << " entries, " << found.damaged.size() << " of them damaged, after "
                      << history.size() << " writes";
  EXPECT_GE(*writes, reported.value()) << "a write was reported by written() before it was durable: it is not there afterwards";
}

// Covers: REG_F32 INV_S01
TEST_P(LogStoreSuite, APowerCutLeavesWhatWasReportedWritten) {
  for (uint64_t round = 1; round <= 12; ++round) {
    start_over();
    LogHistory history(round);
    while (history.size() < 5 * round) store_->submit(history.size() % 9 == 7 ? history.reset() : history.next());
    ASSERT_TRUE(probe_->wait_written(WriteNumber(history.size() / 2))) << "a write was never reported by written()";
    const WriteNumber reported = probe_->written();
    if (!harness_->cut_power()) GTEST_SKIP() << "LogStoreHarness::cut_power() would show whether a report waits for the sync";
    const RecoveredLog before = std::exchange(recovered_, reopen());
    const RecoveredLog& found = recovered_;
    ASSERT_NO_FATAL_FAILURE(expect_prefix(history, reported, found)) << "round " << round;
    EXPECT_GT(found.boot, before.boot) << "the boot counter was not durable when open() returned";
    EXPECT_EQ(found.store, before.store) << "the store id was not durable when open() returned";
    append(found.base.index.value() + found.entries.size() + 1, 1, 99);
    ASSERT_NO_FATAL_FAILURE(expect_written());
    EXPECT_EQ(reopen().entries.size(), found.entries.size() + 1) << "the log does not continue after a power cut";
  }
}

// Passes reports to a counter, and lets the writer be a few writes ahead.
class ReportingLogSink final : public LogSink {
 public:
  // `report` gets each written number, under the lock of this sink.
  explicit ReportingLogSink(std::function<void(uint64_t)> report) : report_(std::move(report)) {}
  void written(WriteNumber number) override {
    const std::lock_guard lock(mutex_);
    report_(number.value());
    written_ = number;
    changed_.notify_all();
  }
  void log_read(Index, absl::StatusOr<std::vector<raft::Entry>>) override {}
  void log_failed(absl::Status) override {}

  // Waits until this write is reported, or the patience is over.
  void wait_for(uint64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience(), [&] { return written_.value() >= number; });
  }

 private:
  const std::function<void(uint64_t)> report_;
  std::mutex mutex_;
  std::condition_variable changed_;
  WriteNumber written_;
};

// Covers: REG_F32 FLT_P01
TEST_P(LogStoreSuite, AKilledProcessHasWrittenWhatItReported) {
  if (!harness_->outlives_process()) GTEST_SKIP() << "this medium ends with its process";
  constexpr uint64_t kAhead = 12;
  store_->close();  // fork() copies no other threads
  for (const size_t reports : std::initializer_list<size_t>{1, 5, 25}) {
    const std::unique_ptr<LogStoreHarness> harness = GetParam()();
    const std::vector<uint64_t> reported = killed_after(reports, [&](const std::function<void(uint64_t)>& report) {
      LogHistory history(reports);
      ReportingLogSink sink(report);
      LogStore& store = harness->restart();
      if (!store.open(sink).ok()) return;
      for (;;) {
        store.submit(history.next());
        if (history.size() > kAhead) sink.wait_for(history.size() - kAhead);
      }
    });
    ASSERT_GE(reported.size(), reports) << "a process that writes for ever has stopped reporting";
    LogHistory history(reports);
    while (history.size() < reported.back() + kAhead + 1) history.next();
    LogSinkProbe probe;
    LogStore& store = harness->restart();
    const absl::StatusOr<RecoveredLog> found = store.open(probe);
    ASSERT_TRUE(found.ok()) << "the log of a killed process does not open: " << found.status().ToString();
    expect_prefix(history, WriteNumber(reported.back()), *found);
    EXPECT_GT(found->boot, BootCounter(1)) << "the boot counter was not durable when open() returned in the killed process";
    store.close();
  }
}

// Covers: FLT_D03
TEST_P(LogStoreSuite, AFailedSyncIsSaidOnceAndNothingIsReportedAfterIt) {
  LogHistory history(3);
  while (history.size() < 5) store_->submit(history.next());
  ASSERT_TRUE(probe_->wait_written(WriteNumber(5)));
  if (!harness_->fail_syncs()) GTEST_SKIP() << "LogStoreHarness::fail_syncs() would show whether a failed sync is said";
  while (history.size() < 25) store_->submit(history.next());
  ASSERT_TRUE(probe_->wait_failed()) << "a sync failed and log_failed() was not called";
  while (history.size() < 30) store_->submit(history.next());
  store_->close();
  EXPECT_EQ(probe_->failures().size(), 1u) << "a failure is said once";
  EXPECT_EQ(probe_->written(), WriteNumber(5)) << "a write was reported by written() although its sync failed";
  expect_prefix(history, WriteNumber(5), reopen());
}

// Covers: FLT_D05
TEST_P(LogStoreSuite, AReadThatFailsIsAnErrorAndNeverOtherBytes) {
  const std::vector<raft::Entry> all = entries(1, 25, 1, 3000);
  store_->submit({.number = next_number(), .entries = all});
  ASSERT_NO_FATAL_FAILURE(expect_written());
  reopen();
  if (!harness_->fail_reads()) GTEST_SKIP() << "LogStoreHarness::fail_reads() would show what becomes of a read that fails";
  for (const uint64_t first : std::initializer_list<uint64_t>{1, 9, 25}) {
    const auto got = read(first, first);
    // The store has failed as a whole, and reported it.
    if (absl::IsDeadlineExceeded(got.status()) && !probe_->failures().empty()) return;
    EXPECT_FALSE(absl::IsDeadlineExceeded(got.status())) << "a read that fails is never answered";
    if (got.ok()) {
      EXPECT_EQ(*got, entries(first, 1, 1, 3000)) << "a read failed, and other bytes were served";
    }
  }
}

// Covers: FLT_D09
TEST_P(LogStoreSuite, AnEntryInAnothersPlaceIsNeverTakenForIt) {
  const std::vector<raft::Entry> written = entries(1, 12, 1, 100);
  store_->submit({.number = next_number(), .entries = written});
  ASSERT_NO_FATAL_FAILURE(expect_written());
  store_->close();
  if (!harness_->exchange(written[3], written[8])) {
    GTEST_SKIP() << "LogStoreHarness::exchange() would show whether entries are known by their places";
  }
  store_ = &harness_->restart();
  probe_ = std::make_unique<LogSinkProbe>();
  const absl::StatusOr<RecoveredLog> opened = store_->open(*probe_);
  if (!opened.ok()) {
    EXPECT_TRUE(absl::IsDataLoss(opened.status())) << "a damaged log is kDataLoss, not " << opened.status().ToString();
    return;
  }
  for (const raft::Entry& entry : opened->entries) {
    const bool known = entry.index.value() >= 1 && entry.index.value() <= written.size();
    EXPECT_TRUE(known && entry == written[entry.index.value() - 1]) << "an entry was taken for another one at open";
  }
  EXPECT_EQ(opened->entries.size() + opened->damaged.size(), written.size()) << "entries are missing without a word";
  for (const uint64_t index : std::initializer_list<uint64_t>{4, 9}) {
    const auto got = read(index, index);
    EXPECT_TRUE(!got.ok() || *got == entries(index, 1, 1, 100)) << "an entry was served in the place of another one";
  }
}

// Covers: FLT_D04
TEST_P(LogStoreSuite, AFullDiskIsSaidAndNothingIsReportedThatIsNotThere) {
  LogHistory history(4);
  store_->submit(history.next());
  ASSERT_TRUE(probe_->wait_written(WriteNumber(1)));
  if (!harness_->set_full(true)) GTEST_SKIP() << "LogStoreHarness::set_full() would show what becomes of writes without room";
  while (probe_->written() == WriteNumber(history.size()) && history.size() < 3000) {
    store_->submit(history.next());
    ASSERT_TRUE(probe_->wait_reported(WriteNumber(history.size())))
        << "a write finds no room, and neither log_space() nor log_failed() was called";
  }
  EXPECT_LT(history.size(), 3000u) << "every write was reported although the disk is full";
  ASSERT_TRUE(harness_->set_full(false));
  if (probe_->failures().empty()) {
    EXPECT_TRUE(probe_->wait_written(WriteNumber(history.size())))
        << "a write that waited for room does not continue once there is room";
  }
  store_->close();
  const WriteNumber reported = probe_->written();
  expect_prefix(history, reported, reopen());
}

// Covers: FLT_P17
TEST_P(LogStoreSuite, ASecondOpenOfOneMediumIsRefused) {
  ASSERT_TRUE(probe_->wait_written(append(1, 3, 1)));
  const std::optional<absl::Status> second = harness_->open_twice();
  if (!second) GTEST_SKIP() << "LogStoreHarness::open_twice() would show whether two processes can share a medium";
  EXPECT_TRUE(absl::IsFailedPrecondition(*second))
      << "a medium that is open was opened once more; it must be kFailedPrecondition, not " << second->ToString();
  ASSERT_TRUE(probe_->wait_written(append(4, 3, 1))) << "the store that was open has suffered from the attempt";
  EXPECT_EQ(reopen().entries, entries(1, 6, 1));
}

TEST_P(LogStoreSuite, NothingIsPostedAfterACloseWithWritesUnderWay) {
  LogHistory history(5);
  while (history.size() < 200) store_->submit(history.next());
  store_->read(Index(1), Index(5), 1 << 20);
  store_->close();
  probe_->seal();
  const WriteNumber reported = probe_->written();
  store_->close();
  const std::unique_ptr<LogSinkProbe> previous = std::move(probe_);
  const RecoveredLog found = reopen();
  expect_prefix(history, reported, found);
  append(found.entries.size() + 1, 1, 99);
  ASSERT_NO_FATAL_FAILURE(expect_written());
  store_->close();
  EXPECT_EQ(previous->late(), 0u) << "something was posted after close() had returned";
}

// Covers: FLT_D02 FLT_D06
TEST_P(LogStoreSuite, RottenEntriesAreNamedAndRepaired) {
  const std::vector<raft::Entry> written = entries(1, 12, 1, 100);
  store_->submit({.number = next_number(), .entries = written});
  ASSERT_NO_FATAL_FAILURE(expect_written());
  store_->close();
  const std::vector<size_t> rotten = {3, 4, 9};  // positions, index - 1
  for (const size_t at : rotten) {
    if (!harness_->rot(written[at])) GTEST_SKIP() << "LogStoreHarness::rot() would show whether rotten entries are named";
  }
  RecoveredLog hurt = reopen();
  ASSERT_EQ(hurt.damaged.size(), rotten.size()) << "rotten entries are not named in RecoveredLog::damaged";
  EXPECT_EQ(hurt.entries.size(), written.size() - rotten.size());
  for (size_t i = 0; i < rotten.size(); ++i) {
    const raft::Entry& lost = written[rotten[i]];
    EXPECT_EQ(hurt.damaged[i].index, lost.index);
    EXPECT_TRUE(!hurt.damaged[i].term || hurt.damaged[i].term == lost.term);
    EXPECT_TRUE(hurt.damaged[i].content_sum == 0 || hurt.damaged[i].content_sum == lost.content_sum);
  }
  EXPECT_FALSE(read(4, 4).ok()) << "an entry that is rotten was served";
  if (const auto range = read(2, 6); range.ok()) {  // 2 and 3 are intact; fewer may come
    EXPECT_LE(range->size(), 2u) << "a range with a rotten entry ends before it, or is an error";
    EXPECT_TRUE(!range->empty() && std::equal(range->begin(), range->end(), written.begin() + 1))
        << "a range with a rotten entry ends before it, or is an error";
  }
  ASSERT_TRUE(read(6, 9).ok()) << "entries between two rotten ones are not served";

  store_->submit({.number = next_number(), .repairs = {written[4]}});
  ASSERT_NO_FATAL_FAILURE(expect_written());
  hurt = reopen();
  EXPECT_EQ(hurt.damaged.size(), 2u) << "a part may be repaired";
  store_->submit({.number = next_number(), .repairs = {written[3], written[4], written[9]}});
  const WriteNumber last = append(13, 1, 2, 100);
  ASSERT_TRUE(probe_->wait_written(last));
  EXPECT_TRUE(read(1, 13).ok()) << "an entry that was repaired is not readable";
  for (int opening = 0; opening < 2; ++opening) {
    const RecoveredLog whole = reopen();
    EXPECT_TRUE(whole.damaged.empty()) << "a repair was reported written and is not there after a restart";
    ASSERT_EQ(whole.entries.size(), 13u);
    EXPECT_TRUE(std::equal(written.begin(), written.end(), whole.entries.begin()));
  }
}

}  // namespace coordkit::testkit

// Conformance suite for state stores, the part about disks that fail and processes that die. Part
// of state_store_suite.h.
#pragma once

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
#include "coordkit/testing/state_history.h"
#include "coordkit/testing/state_store_fixture.h"

namespace coordkit::testkit {

// Covers: FLT_D16 INV_S03
TEST_P(StateStoreSuite, APowerCutLeavesTheStateReportedOrTheNextOne) {
  for (uint64_t round = 1; round <= 12; ++round) {
    start_over();
    for (uint64_t number = 1; number <= round; ++number) {
      start_numbered_state(*store_, number);
      const Position applied = at(number);
      const bool committed = number % 5 != 0;
      ASSERT_TRUE(committed ? probe_->wait_applied(applied) : probe_->wait_for(StateSinkProbe::Installed{applied}))
          << "a commit or an install was never reported";
    }
    start_numbered_state(*store_, round + 1);
    if (!harness_->cut_power()) GTEST_SKIP() << "StateStoreHarness::cut_power() would show whether a report waits for the sync";
    const Position opened = reopen();
    ASSERT_NO_FATAL_FAILURE(expect_one_state(round, opened, *view())) << "round " << round;
    commit(100, {{"goes on", "1"}});
    EXPECT_EQ(reopen(), at(100)) << "the state does not continue after a power cut";
  }
}

// Passes reports to a counter.
class ReportingStateSink final : public StateSink {
 public:
  // `report` gets the index of each state that is durable, under the lock of this sink.
  explicit ReportingStateSink(std::function<void(uint64_t)> report) : report_(std::move(report)) {}
  void checkpointed(Position applied) override { pass_on(applied); }
  void installed(Position applied) override { pass_on(applied); }
  void staged(Ticket) override {}
  void install_refused(Position, absl::Status) override {}
  void checkpoint_failed(absl::Status) override {}

  // Waits until a state with at least this index is reported; false: the patience is over.
  bool wait_for(uint64_t number) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience(), [&] { return reported_ >= number; });
  }

 private:
  void pass_on(Position applied) {
    const std::lock_guard lock(mutex_);
    reported_ = applied.index.value();
    report_(reported_);
    changed_.notify_all();
  }

  const std::function<void(uint64_t)> report_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t reported_ = 0;
};

// Covers: REG_F34 FLT_D16 INV_S03
TEST_P(StateStoreSuite, AKilledProcessLeavesTheStateItReportedOrTheNextOne) {
  if (!harness_->outlives_process()) GTEST_SKIP() << "this medium ends with its process";
  store_->close();  // fork() copies no other threads
  for (const size_t reports : std::initializer_list<size_t>{1, 4, 9, 20}) {
    const std::unique_ptr<StateStoreHarness> harness = GetParam()();
    const std::vector<uint64_t> reported = killed_after(reports, [&](const std::function<void(uint64_t)>& report) {
      ReportingStateSink sink(report);
      StateStore& store = harness->restart();
      if (!store.open(sink).ok()) return;
      for (uint64_t number = 1;; ++number) {
        start_numbered_state(store, number);
        if (!sink.wait_for(number)) return;
      }
    });
    ASSERT_GE(reported.size(), reports) << "a process that commits for ever has stopped reporting";
    StateSinkProbe probe;
    StateStore& store = harness->restart();
    const absl::StatusOr<Position> opened = store.open(probe);
    ASSERT_TRUE(opened.ok()) << "the state of a killed process does not open: " << opened.status().ToString();
    const auto found = store.view();
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    expect_one_state(reported.back(), *opened, **found);
    store.close();
  }
}

// Covers: FLT_D03
TEST_P(StateStoreSuite, AFailedSyncIsSaidOnceAndNothingIsReportedAfterIt) {
  commit(1, as_batch(numbered_state(1)));
  if (!harness_->fail_syncs()) GTEST_SKIP() << "StateStoreHarness::fail_syncs() would show whether a failed sync is said";
  start_numbered_state(*store_, 2);
  ASSERT_TRUE(probe_->wait_failed_or_damaged())
      << "a sync failed, and neither checkpoint_damaged() nor checkpoint_failed() was called";
  start_numbered_state(*store_, 3);
  store_->close();
  EXPECT_EQ(probe_->failures().size() + probe_->damages().size(), 1u) << "a failure is said once";
  EXPECT_EQ(probe_->reports().size(), 1u) << "a commit was reported although its sync failed";
  const Position opened = reopen();
  expect_one_state(1, opened, *view());
}

// Covers: FLT_D04
TEST_P(StateStoreSuite, AFullDiskIsSaidAndTheStateBeforeStays) {
  commit(1, {{"a", "1"}});
  if (!harness_->set_full(true))
    GTEST_SKIP() << "StateStoreHarness::set_full() would show what becomes of commits without room";
  constexpr uint64_t kCommitsMax = 300;
  uint64_t number = 1;
  while (probe_->reports().size() == number && number < kCommitsMax) {
    ++number;
    store_->commit({at(number), {{"big " + std::to_string(number), std::string(64 << 10, 'x')}}});
    ASSERT_TRUE(probe_->wait_reported(number))
        << "a commit finds no room, and neither checkpoint_waits() nor checkpoint_failed() was called";
  }
  EXPECT_LT(number, kCommitsMax) << "every commit was reported although the disk is full";
  EXPECT_EQ(view()->applied(), at(number - 1)) << "a view shows a commit that was not reported";
  ASSERT_TRUE(harness_->set_full(false));
  const bool waits = probe_->failures().empty();
  if (waits) {
    EXPECT_TRUE(probe_->wait_applied(at(number))) << "a commit that waited for room does not continue once there is room";
  }
  EXPECT_EQ(reopen(), at(waits ? number : number - 1)) << "a commit was reported and is not there after a restart";
}

// Covers: FLT_D08
TEST_P(StateStoreSuite, ARottenRowIsNeverTakenForIntact) {
  const std::string value = "a value that is found nowhere else: " + std::string(200, 'r');
  commit(1, {{"a", "1"}, {"b", value}, {"c", "3"}});
  store_->close();
  if (!harness_->rot("b", value)) GTEST_SKIP() << "StateStoreHarness::rot() would show whether rotten rows are noticed";
  store_ = &harness_->restart();
  probe_ = std::make_unique<StateSinkProbe>();
  if (const absl::StatusOr<Position> opened = store_->open(*probe_); !opened.ok()) {
    EXPECT_TRUE(absl::IsDataLoss(opened.status())) << "a rotten checkpoint is kDataLoss, not " << opened.status().ToString();
    return;
  }
  const auto found = store_->view();
  if (!found.ok()) return;
  const absl::Status read = (*found)->scan("", [&](std::string_view key, std::string_view shown) {
    EXPECT_TRUE(key != "b" || shown == value) << "a row that is rotten was shown as if it were intact";
    return absl::OkStatus();
  });
  EXPECT_TRUE(read.ok() || absl::IsDataLoss(read)) << "a rotten row is kDataLoss, not " << read.ToString();
}

// Covers: FLT_D09
TEST_P(StateStoreSuite, ARowInAnothersPlaceIsNeverTakenForIt) {
  const std::string one = std::string(200, 'o') + " the first", other = std::string(200, 'p') + " the other";
  commit(1, {{"a", one}, {"b", other}});
  store_->close();
  if (!harness_->exchange(one, other))
    GTEST_SKIP() << "StateStoreHarness::exchange() would show whether rows are known by their keys";
  store_ = &harness_->restart();
  probe_ = std::make_unique<StateSinkProbe>();
  if (const absl::StatusOr<Position> opened = store_->open(*probe_); !opened.ok()) {
    EXPECT_TRUE(absl::IsDataLoss(opened.status())) << "a damaged checkpoint is kDataLoss, not " << opened.status().ToString();
    return;
  }
  const auto found = store_->view();
  if (!found.ok()) return;
  const absl::Status read = (*found)->scan("", [&](std::string_view key, std::string_view shown) {
    EXPECT_EQ(shown, key == "a" ? one : other) << "the value of one row was shown as that of another";
    return absl::OkStatus();
  });
  EXPECT_TRUE(read.ok() || absl::IsDataLoss(read)) << "a damaged checkpoint is kDataLoss, not " << read.ToString();
}

// Covers: FLT_P17
TEST_P(StateStoreSuite, ASecondOpenOfOneMediumIsRefused) {
  commit(1, {{"a", "1"}});
  const std::optional<absl::Status> second = harness_->open_twice();
  if (!second) GTEST_SKIP() << "StateStoreHarness::open_twice() would show whether two processes can share a medium";
  EXPECT_TRUE(absl::IsFailedPrecondition(*second))
      << "a medium that is open was opened once more; it must be kFailedPrecondition, not " << second->ToString();
  commit(2, {{"a", "2"}});
  EXPECT_EQ(reopen(), at(2)) << "the store that was open has suffered from the attempt";
}

TEST_P(StateStoreSuite, NothingIsPostedAfterACloseWithACommitUnderWay) {
  commit(1, as_batch(numbered_state(1)));
  start_numbered_state(*store_, 2);
  store_->stage(Ticket(99), {}, {{"staged", std::string(1 << 20, 's')}});
  store_->close();
  probe_->seal();
  const uint64_t reported = probe_->reports().size() > 1 ? 2 : 1;
  store_->close();
  const std::unique_ptr<StateSinkProbe> previous = std::move(probe_);
  const Position opened = reopen();
  expect_one_state(reported, opened, *view());
  commit(3, {{"goes on", "1"}});
  EXPECT_EQ(previous->late(), 0u) << "something was posted after close() had returned";
}

// Covers: FLT_D16
TEST_P(StateStoreSuite, StagedRowsDoNotSurviveARestart) {
  commit(1, {{"a", "1"}});
  stage({}, {{"b", "2"}, {"c", "3"}});
  EXPECT_EQ(reopen(), at(1));
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "1"}}));
  EXPECT_FALSE(install(9, {{"b", "2"}, {"c", "3"}})) << "rows that were staged before a restart were installed after it";
  stage({}, {{"d", "4"}});
  EXPECT_TRUE(install(9, {{"d", "4"}}));
}

}  // namespace coordkit::testkit

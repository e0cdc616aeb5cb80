// Conformance suite for StateStore adapters, used like coordkit/testing/log_store_suite.h.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/state_store.h"
#include "coordkit/testing/sink_probes.h"

namespace coordkit::testing {

class StateStoreHarness {
 public:
  virtual ~StateStoreHarness() = default;
  // Closes the store before, if any, and returns one that is not open yet, over what the former left behind.
  virtual StateStore& restart() = 0;
};
using StateStoreHarnessFactory = std::function<std::unique_ptr<StateStoreHarness>()>;

using Rows = std::map<std::string, std::string>;

inline uint64_t digest_of(const Rows& rows) {
  RowDigest digest;
  for (const auto& [key, value] : rows) digest.add(key, value_sum(key, value));
  return digest.value();
}

// What `scan` visits.
inline Rows visited(absl::FunctionRef<absl::Status(CheckpointView::Visitor)> scan) {
  Rows rows;
  std::string before;
  const absl::Status status = scan([&](std::string_view key, std::string_view value) {
    EXPECT_LT(before, key) << "rows must come in ascending byte order, each once";
    before = key;
    rows.emplace(key, value);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  return rows;
}
inline Rows rows_of(const CheckpointView& view, std::string_view prefix = "") {
  return visited([&](CheckpointView::Visitor visit) { return view.scan(prefix, visit); });
}
inline Rows range_of(const CheckpointView& view, const KeyRange& range) {
  return visited([&](CheckpointView::Visitor visit) { return view.scan_range(range, visit); });
}

class StateStoreSuite : public ::testing::TestWithParam<StateStoreHarnessFactory> {
 protected:
  void SetUp() override {
    harness_ = GetParam()();
    EXPECT_EQ(reopen(), Position{});
  }
  void TearDown() override {
    if (store_ != nullptr) store_->close();
  }
  Position reopen() {
    if (store_ != nullptr) store_->close();
    store_ = &harness_->restart();
    probe_ = std::make_unique<StateSinkProbe>();
    const absl::StatusOr<Position> opened = store_->open(*probe_);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return opened.value_or(Position{});
  }
  void commit(uint64_t index, std::vector<CheckpointBatch::Row> rows) {
    const Position applied{Index(index), Term(1)};
    store_->commit({applied, std::move(rows)});
    ASSERT_TRUE(probe_->wait_applied(applied));
  }
  std::unique_ptr<CheckpointView> view() {
    absl::StatusOr<std::unique_ptr<CheckpointView>> view = store_->view();
    EXPECT_TRUE(view.ok()) << view.status().ToString();
    return *std::move(view);
  }

  std::unique_ptr<StateStoreHarness> harness_;
  std::unique_ptr<StateSinkProbe> probe_;
  StateStore* store_ = nullptr;
};

TEST_P(StateStoreSuite, BlankStoreIsEmpty) {
  EXPECT_EQ(view()->applied(), Position{});
  EXPECT_TRUE(rows_of(*view()).empty());
}

TEST_P(StateStoreSuite, INV_S03_RowsAndPositionAreThereAfterRestart) {
  commit(7, {{"a", "1"}, {"b", "2"}});
  EXPECT_EQ(reopen(), (Position{Index(7), Term(1)}));
  EXPECT_EQ(view()->applied(), (Position{Index(7), Term(1)}));
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "1"}, {"b", "2"}}));
}

TEST_P(StateStoreSuite, BatchesReplaceAndErase) {
  commit(1, {{"a", "1"}, {"b", "2"}, {"c", "3"}});
  commit(2, {{"b", std::nullopt}, {"c", "33"}, {"not there", std::nullopt}});
  reopen();
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "1"}, {"c", "33"}}));
}

TEST_P(StateStoreSuite, ScanVisitsExactlyThePrefix) {
  commit(1, {{"a", "0"}, {"ab", "1"}, {"abc", "2"}, {"ac", "3"}, {std::string("ab\0", 3), "4"}, {"\xff", "5"}});
  EXPECT_EQ(rows_of(*view(), "ab"), (Rows{{"ab", "1"}, {"abc", "2"}, {std::string("ab\0", 3), "4"}}));
  EXPECT_EQ(rows_of(*view(), "\xff"), (Rows{{"\xff", "5"}}));
  EXPECT_TRUE(rows_of(*view(), "b").empty());
}

TEST_P(StateStoreSuite, ScanStopsAtTheVisitorsError) {
  commit(1, {{"a", "1"}, {"b", "2"}});
  int visited = 0;
  const absl::Status status = view()->scan("", [&](std::string_view, std::string_view) {
    ++visited;
    return absl::CancelledError("enough");
  });
  EXPECT_TRUE(absl::IsCancelled(status));
  EXPECT_EQ(visited, 1);
}

TEST_P(StateStoreSuite, LaterCommitsDoNotChangeAView) {
  commit(1, {{"a", "1"}});
  const std::unique_ptr<CheckpointView> before = view();
  commit(2, {{"a", "2"}, {"b", "2"}});
  EXPECT_EQ(rows_of(*before), (Rows{{"a", "1"}}));
  EXPECT_EQ(before->applied(), (Position{Index(1), Term(1)}));
  EXPECT_EQ(rows_of(*view()), (Rows{{"a", "2"}, {"b", "2"}}));
}

TEST_P(StateStoreSuite, EmptyValuesAndLargeValuesAreFine) {
  commit(1, {{"empty", ""}, {"large", std::string(1 << 20, 'x')}, {std::string(64, 'k'), "longest key"}});
  reopen();
  EXPECT_EQ(rows_of(*view()),
            (Rows{{"empty", ""}, {"large", std::string(1 << 20, 'x')}, {std::string(64, 'k'), "longest key"}}));
}

TEST_P(StateStoreSuite, RandomBatchesAgreeWithAMap) {
  Rows expected;
  uint64_t seed = 42;
  const auto random = [&seed](uint64_t below) {
    return (seed = seed * 6364136223846793005u + 1442695040888963407u) / 7 % below;
  };
  for (uint64_t batch = 1; batch <= 20; ++batch) {
    Rows changed;
    std::vector<CheckpointBatch::Row> rows;
    for (uint64_t i = 0; i < 20; ++i) changed[std::to_string(random(60))] = std::to_string(random(1000));
    for (auto& [key, value] : changed) {
      const bool erase = random(3) == 0;
      rows.push_back({key, erase ? std::nullopt : std::optional(value)});
      if (erase)
        expected.erase(key);
      else
        expected[key] = value;
    }
    commit(batch, std::move(rows));
    if (batch % 5 == 0) {
      EXPECT_EQ(reopen().index, Index(batch));
    }
    ASSERT_EQ(rows_of(*view()), expected);
  }
}

TEST_P(StateStoreSuite, ScanRangeExcludesItsBeginAndIncludesItsEnd) {
  commit(1, {{"a", "0"}, {std::string("a\0", 2), "1"}, {"b", "2"}, {"bb", "3"}, {"c", "4"}});
  EXPECT_EQ(range_of(*view(), {"a", "bb"}), (Rows{{std::string("a\0", 2), "1"}, {"b", "2"}, {"bb", "3"}}));
  EXPECT_EQ(range_of(*view(), {"", "a"}), (Rows{{"a", "0"}}));
  EXPECT_EQ(range_of(*view(), {"b", ""}), (Rows{{"bb", "3"}, {"c", "4"}}));
  EXPECT_EQ(range_of(*view(), {"", ""}), rows_of(*view()));
  EXPECT_TRUE(range_of(*view(), {"c", ""}).empty());
}

TEST_P(StateStoreSuite, INV_S04_TheDigestIsThatOfTheRowsHoweverTheyCame) {
  const uint64_t empty = view()->digest();
  commit(1, {{"a", "0"}, {"b", "2"}, {"c", "3"}});
  commit(2, {{"a", "1"}, {"c", std::nullopt}});
  const uint64_t two = view()->digest();
  EXPECT_NE(two, empty);
  EXPECT_EQ(two, digest_of({{"b", "2"}, {"a", "1"}}));
  reopen();
  EXPECT_EQ(view()->digest(), two);
  commit(3, {{"a", std::nullopt}, {"b", std::nullopt}});
  EXPECT_EQ(view()->digest(), empty);
}

TEST_P(StateStoreSuite, CloseIsIdempotent) {
  commit(1, {{"a", "1"}});
  store_->close();
  store_->close();
  EXPECT_TRUE(probe_->failures().empty());
}

}  // namespace coordkit::testing

// What the claims of state_store_suite.h stand on: a medium to open stores over, and calls that wait for their reports.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
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
    store_->commit({at(index), std::move(rows)});
    ASSERT_TRUE(probe_->wait_applied(at(index)));
  }
  static Position at(uint64_t index) { return {Index(index), Term(1)}; }
  void stage(KeyRange range, std::vector<CheckpointBatch::Row> rows) {
    ticket_ = ticket_.next();
    store_->stage(ticket_, std::move(range), std::move(rows));
    ASSERT_TRUE(probe_->wait_for(StateSinkProbe::Staged{ticket_}));
  }
  // Installs what is staged as `rows`; false: refused.
  bool install(uint64_t index, const Rows& rows) {
    store_->install(at(index), digest_of(rows));
    const std::optional<StateSinkProbe::Report> came = probe_->next();
    if (came == StateSinkProbe::Report(StateSinkProbe::Installed{at(index)})) return true;
    EXPECT_EQ(came, StateSinkProbe::Report(StateSinkProbe::Refused{at(index)})) << "neither installed nor refused";
    return false;
  }
  std::unique_ptr<CheckpointView> view() {
    absl::StatusOr<std::unique_ptr<CheckpointView>> view = store_->view();
    EXPECT_TRUE(view.ok()) << view.status().ToString();
    return *std::move(view);
  }

  std::unique_ptr<StateStoreHarness> harness_;
  std::unique_ptr<StateSinkProbe> probe_;
  StateStore* store_ = nullptr;
  Ticket ticket_;
};

}  // namespace coordkit::testing

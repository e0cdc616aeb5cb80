// The basis of the claims of state_store_suite.h: a medium to open stores over, and calls that wait
// for their reports.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/ports/state_store.h"
#include "coordkit/testing/sink_probes.h"

namespace coordkit::testkit {

// One durable medium of its own. Stores are opened over it one after the other. There may be two
// harnesses at once.
class StateStoreHarness {
 public:
  virtual ~StateStoreHarness() = default;
  // Closes the previous store, if any, and returns one that is not open yet, over the data that the
  // previous one left. Nothing is open before the first call.
  virtual StateStore& restart() = 0;
  // Whether committed data is there for another process. A test forks one, and kills it while it
  // commits.
  virtual bool outlives_process() const { return true; }

  // The following calls damage the medium; false: it was not done. A test that needs a call that a
  // harness does not offer is skipped, and says why. A failure lasts until the next restart().

  // While no store is open: changes the medium's copy of this row's value, which is nowhere else on
  // it.
  virtual bool rot(const std::string& /*key*/, const std::string& /*value*/) { return false; }
  // While no store is open: swaps the stored places of two values of equal length.
  virtual bool exchange(const std::string& /*value*/, const std::string& /*other*/) { return false; }
  // Cuts the power now. The next restart() finds everything that was synced by now and, of the
  // rest, any part that such a disk may keep. Later work of the open store changes nothing on the
  // medium.
  virtual bool cut_power() { return false; }
  virtual bool fail_syncs() { return false; }  // every later sync is an error
  // Takes away all free room, or gives it back.
  virtual bool set_full(bool) { return false; }
  // Opens the medium once more, while the store of restart() has it open. Returns the result.
  virtual std::optional<absl::Status> open_twice() { return std::nullopt; }
};
// Makes a harness over a blank medium of its own, at each call.
using StateStoreHarnessFactory = std::function<std::unique_ptr<StateStoreHarness>()>;

using Rows = std::map<std::string, std::string>;  // by key, in ascending byte order

// Each position has a term of its own.
inline Position position_of(uint64_t index) { return {Index(index), Term((uint64_t{1} << 36) + index)}; }

// The digest that a store must have for exactly these rows.
inline uint64_t digest_of(const Rows& rows) {
  RowDigest digest;
  for (const auto& [key, value] : rows) digest.add(key, value_sum(key, value));
  return digest.value();
}

// The rows that `scan` visits.
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
// The rows of a view whose keys have this prefix.
inline Rows rows_of(const CheckpointView& view, std::string_view prefix = "") {
  return visited([&](CheckpointView::Visitor visit) { return view.scan(prefix, visit); });
}
// The rows of a view in this range.
inline Rows range_of(const CheckpointView& view, const KeyRange& range) {
  return visited([&](CheckpointView::Visitor visit) { return view.scan_range(range, visit); });
}

// A harness and the store that is open over it.
class StateStoreSuite : public ::testing::TestWithParam<StateStoreHarnessFactory> {
 protected:
  void SetUp() override { start_over(); }  // opens a blank medium
  // Closes the store.
  void TearDown() override {
    if (store_ != nullptr) store_->close();
  }
  // Starts on a blank medium.
  void start_over() {
    if (store_ != nullptr) store_->close();
    store_ = nullptr;
    harness_.reset();
    harness_ = GetParam()();
    EXPECT_EQ(reopen(), Position{}) << "a blank medium holds no checkpoint: its position is {0, 0}";
  }
  // Closes the store and opens its medium again, with a new probe. Returns the position it opens
  // at.
  Position reopen() {
    if (store_ != nullptr) store_->close();
    store_ = &harness_->restart();
    probe_ = std::make_unique<StateSinkProbe>();
    const absl::StatusOr<Position> opened = store_->open(*probe_);
    EXPECT_TRUE(opened.ok()) << "the store does not open: " << opened.status().ToString();
    return opened.value_or(Position{});
  }
  // Commits a batch, and waits until it is reported.
  void commit(uint64_t index, std::vector<CheckpointBatch::Row> rows) {
    store_->commit({at(index), std::move(rows)});
    ASSERT_TRUE(probe_->wait_applied(at(index))) << "a commit was never reported by checkpointed()";
  }
  static Position at(uint64_t index) { return position_of(index); }  // as position_of()
  // Stages a range, and waits until it is reported.
  void stage(KeyRange range, std::vector<CheckpointBatch::Row> rows) {
    ticket_ = ticket_.next();
    store_->stage(ticket_, std::move(range), std::move(rows));
    ASSERT_TRUE(probe_->wait_for(StateSinkProbe::Staged{ticket_})) << "a range was never reported by staged()";
  }
  // Installs the staged rows as `rows`; false: refused.
  bool install(uint64_t index, const Rows& rows) {
    store_->install(at(index), digest_of(rows));
    const std::optional<StateSinkProbe::Report> came = probe_->next();
    if (came == StateSinkProbe::Report(StateSinkProbe::Installed{at(index)})) return true;
    EXPECT_EQ(came, StateSinkProbe::Report(StateSinkProbe::Refused{at(index)})) << "neither installed nor refused";
    return false;
  }
  // A view of the state as it is now.
  std::unique_ptr<CheckpointView> view() {
    absl::StatusOr<std::unique_ptr<CheckpointView>> view = store_->view();
    EXPECT_TRUE(view.ok()) << view.status().ToString();
    return *std::move(view);
  }

  std::unique_ptr<StateStoreHarness> harness_;  // the medium
  std::unique_ptr<StateSinkProbe> probe_;       // gets the reports of the open store
  StateStore* store_ = nullptr;                 // the open store; the harness owns it
  Ticket ticket_;                               // of the last stage()
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StateStoreSuite);

}  // namespace coordkit::testkit

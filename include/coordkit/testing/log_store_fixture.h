// The basis of the claims of log_store_suite.h: a medium to open stores over, and calls that wait
// for their reports.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "coordkit/ports/log_store.h"
#include "coordkit/testing/entries.h"
#include "coordkit/testing/sink_probes.h"

namespace coordkit::testkit {

// One durable medium of its own. Stores are opened over it one after the other. There may be two
// harnesses at once.
class LogStoreHarness {
 public:
  virtual ~LogStoreHarness() = default;
  // Closes the previous store, if any, and returns one that is not open yet, over the data that the
  // previous one left. Nothing is open before the first call.
  virtual LogStore& restart() = 0;
  // Whether written data is there for another process. A test forks one, and kills it while it
  // writes.
  virtual bool outlives_process() const { return true; }

  // The following calls damage the medium; false: it was not done. A test that needs a call that a
  // harness does not offer is skipped, and says why. A failure lasts until the next restart().

  // While no store is open: makes the medium's copy of this entry unreadable.
  virtual bool rot(const raft::Entry&) { return false; }
  // While no store is open: swaps the stored places of two entries of equal size.
  virtual bool exchange(const raft::Entry&, const raft::Entry&) { return false; }
  // Cuts the power now. The next restart() finds everything that was synced by now and, of the
  // rest, any part that such a disk may keep. Later work of the open store changes nothing on the
  // medium.
  virtual bool cut_power() { return false; }
  virtual bool fail_syncs() { return false; }  // every later sync is an error
  virtual bool fail_reads() { return false; }  // every later read of entries is one
  // Takes away all free room, or gives it back.
  virtual bool set_full(bool) { return false; }
  // Opens the medium once more, while the store of restart() has it open. Returns the result.
  virtual std::optional<absl::Status> open_twice() { return std::nullopt; }
};
// Makes a harness over a blank medium of its own, at each call.
using LogStoreHarnessFactory = std::function<std::unique_ptr<LogStoreHarness>()>;

// A harness and the store that is open over it.
class LogStoreSuite : public ::testing::TestWithParam<LogStoreHarnessFactory> {
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
    recovered_ = reopen();
  }
  // Closes the store and opens its medium again, with a new probe. Numbers of writes start at 1.
  // `checkpointed`: handed to the store before it is opened; zero: nothing is.
  RecoveredLog reopen(Index checkpointed = {}) {
    if (store_ != nullptr) store_->close();
    store_ = &harness_->restart();
    if (checkpointed) store_->checkpointed(checkpointed);
    probe_ = std::make_unique<LogSinkProbe>();
    number_ = 0;
    absl::StatusOr<RecoveredLog> opened = store_->open(*probe_);
    EXPECT_TRUE(opened.ok()) << "the store does not open: " << opened.status().ToString();
    return opened.ok() ? *std::move(opened) : RecoveredLog{};
  }
  // The number for one more write.
  WriteNumber next_number() { return WriteNumber(++number_); }
  // Submits entries(), and does not wait. Returns the number of the write.
  WriteNumber append(uint64_t first, uint64_t count, uint64_t term, size_t bytes = 20) {
    store_->submit({.number = next_number(), .entries = entries(first, count, term, bytes)});
    return WriteNumber(number_);
  }
  // Waits until the last numbered write is reported.
  void expect_written() {
    ASSERT_TRUE(probe_->wait_written(WriteNumber(number_))) << "a write was never reported by written()";
  }
  // Reads a range and waits for the answer.
  absl::StatusOr<std::vector<raft::Entry>> read(uint64_t first, uint64_t last, size_t bytes_max = 1 << 20) {
    store_->read(Index(first), Index(last), bytes_max);
    return probe_->wait_read(Index(first));
  }

  std::unique_ptr<LogStoreHarness> harness_;  // the medium
  std::unique_ptr<LogSinkProbe> probe_;       // gets the reports of the open store
  LogStore* store_ = nullptr;                 // the open store; the harness owns it
  RecoveredLog recovered_;                    // result of the open in start_over()
  uint64_t number_ = 0;                       // of the last write since the store was opened
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LogStoreSuite);

}  // namespace coordkit::testkit

// When log and checkpoint are read in full: how often, not how long it takes.
#include "replica/operate/scrubber.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "coordkit/replica.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;

// Scrubs of both stores, in their order.
class Counted {
 public:
  void state_read() {
    const std::lock_guard lock(mutex_);
    ++states_;
    in_order_ = in_order_ && states_ == logs_ + 1;
    changed_.notify_all();
  }
  void log_read() {
    const std::lock_guard lock(mutex_);
    ++logs_;
    in_order_ = in_order_ && logs_ == states_;
    changed_.notify_all();
  }
  bool wait_for_logs(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 60s, [&] { return logs_ >= count; });  // patience
  }
  size_t states() const {
    const std::lock_guard lock(mutex_);
    return states_;
  }
  size_t logs() const {
    const std::lock_guard lock(mutex_);
    return logs_;
  }
  bool in_order() const {
    const std::lock_guard lock(mutex_);
    return in_order_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  size_t states_ = 0, logs_ = 0;
  bool in_order_ = true;
};

class CountedState final : public StateStore {
 public:
  explicit CountedState(Counted& counted) : counted_(counted) {}
  absl::StatusOr<Position> open(StateSink&) override { return Position(); }
  void commit(CheckpointBatch) override {}
  void stage(Ticket, KeyRange, std::vector<CheckpointBatch::Row>) override {}
  void install(Position, uint64_t) override {}
  void unstage() override {}
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override { return absl::UnimplementedError("no rows"); }
  absl::Status scrub(Pace) override { return counted_.state_read(), absl::OkStatus(); }
  void close() override {}

 private:
  Counted& counted_;
};

class CountedLog final : public LogStore {
 public:
  explicit CountedLog(Counted& counted) : counted_(counted) {}
  absl::StatusOr<RecoveredLog> open(LogSink&) override { return RecoveredLog(); }
  void submit(LogWrite) override {}
  void read(Index, Index, size_t) override {}
  void scrub(Index, std::function<void(LogScrub)> done) override { counted_.log_read(), done({}); }
  void compact(Position) override {}
  void close() override {}

 private:
  Counted& counted_;
};

class ScrubberTest : public ::testing::Test {
 protected:
  Counted counted_;
  CountedState state_{counted_};
  CountedLog log_{counted_};
};

// A start would refuse a rotten checkpoint: a running replica meets it within a day, and writes it again.
// Covers: FLT_D08 FLT_D06
TEST_F(ScrubberTest, ByDefaultBothAreReadSevenTimesAWeek) { EXPECT_EQ(24h * 7 / ReplicaOptions().scrub_every, 7); }

// Covers: FLT_D08 FLT_D06
TEST_F(ScrubberTest, EachIntervalReadsTheCheckpointAndThenTheLog) {
  Scrubber scrubber(state_, log_, {.every = 1ns, .bytes_per_second = 1 << 20}, [](EngineInput) {});
  ASSERT_TRUE(counted_.wait_for_logs(7));
  scrubber.stop();
  EXPECT_EQ(counted_.states(), counted_.logs());
  EXPECT_TRUE(counted_.in_order());
}

TEST_F(ScrubberTest, WithoutAnIntervalOnlyRequestedScrubsRun) {
  Scrubber scrubber(state_, log_, {.every = {}, .bytes_per_second = 1 << 20}, [](EngineInput) {});
  for (size_t asked = 1; asked <= 3; ++asked) {
    EXPECT_TRUE(scrubber.now([] { return true; }).ok());
    EXPECT_EQ(counted_.states(), asked);
    EXPECT_EQ(counted_.logs(), asked);
  }
}

}  // namespace
}  // namespace coordkit::testkit

// The simulated stores against the suites that any adapter runs.
#include <gtest/gtest.h>

#include "coordkit/testing/state_store_suite.h"
#include "sim/disk.h"

namespace coordkit::testing {
namespace {

// Virtual time passes inside every call, until nothing is under way.
class PassingTime final : public StateStore {
 public:
  absl::StatusOr<Position> open(StateSink& sink) override { return store_.open(sink); }
  void commit(CheckpointBatch batch) override {
    store_.commit(std::move(batch));
    pass();
  }
  void stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) override {
    store_.stage(ticket, std::move(range), std::move(rows));
    pass();
  }
  void install(Position applied, uint64_t digest) override {
    store_.install(applied, digest);
    pass();
  }
  void unstage() override {
    store_.unstage();
    pass();
  }
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override { return store_.view(); }
  void close() override { store_.close(); }

  void crash() { store_.crash(); }

 private:
  void pass() {
    while (!world_.empty()) store_.synced(world_.pop());
  }

  sim::World world_{1};
  sim::SimStateStore store_{world_, 0, world_.fork_random()};
};

class SimStateHarness final : public StateStoreHarness {
 public:
  StateStore& restart() override {
    store_.crash();
    return store_;
  }

 private:
  PassingTime store_;
};

INSTANTIATE_TEST_SUITE_P(Sim, StateStoreSuite, ::testing::Values([] { return std::make_unique<SimStateHarness>(); }));

}  // namespace
}  // namespace coordkit::testing

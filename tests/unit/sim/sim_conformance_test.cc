// The simulated stores against the suites for all adapters.
#include <gtest/gtest.h>

#include "coordkit/testing/log_store_suite.h"
#include "coordkit/testing/state_store_suite.h"
#include "sim/world/disk.h"
#include "sim/world/state_disk.h"

namespace coordkit::testkit {
namespace {

// Virtual time passes inside every call, until nothing is pending.
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

  void crash() {
    store_.crash();
    store_.set_errors(0);
    store_.set_full(false);
  }
  void fail() { store_.set_errors(1'000'000); }
  void set_full(bool full) {
    store_.set_full(full);
    pass();
  }

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
  bool outlives_process() const override { return false; }
  bool cut_power() override { return true; }  // a restart is one
  bool fail_syncs() override {
    store_.fail();
    return true;
  }
  bool set_full(bool full) override {
    store_.set_full(full);
    return true;
  }

 private:
  PassingTime store_;
};

// The same for a log.
class LogInPassingTime final : public LogStore {
 public:
  LogInPassingTime() {
    store_.disk().set_history([](Position) { return 0; });  // not asked here what a reset stands for
  }
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override { return store_.open(sink); }
  void submit(LogWrite write) override {
    store_.submit(std::move(write));
    pass();
  }
  void read(Index first, Index last, size_t bytes_max) override {
    store_.read(first, last, bytes_max);
    pass();
  }
  void compact(Position through) override { store_.compact(through); }
  void close() override { store_.close(); }

  void crash() {
    store_.crash(sim::CrashKind::Power);
    store_.disk().damage().set_faults({});
  }
  void fail(const sim::FileFaults& faults) { store_.disk().damage().set_faults(faults); }
  void rot(Index index) { store_.disk().damage().rot(store_.id(), index); }

 private:
  void pass() {
    while (!world_.empty()) {
      const sim::Event event = world_.pop();
      if (event.kind == sim::EventKind::LogSynced) store_.synced(event);
      if (event.kind == sim::EventKind::LogReadDone) store_.read_done(event);
      if (event.kind == sim::EventKind::LogIdle) store_.idle(event);
    }
  }

  sim::World world_{1};
  static StoreId new_id() {
    static uint64_t last = 6;
    return StoreId(++last);
  }

  sim::SimLogStore store_{world_, 0, new_id(), world_.fork_random()};
};

class SimLogHarness final : public LogStoreHarness {
 public:
  LogStore& restart() override {
    store_.crash();
    return store_;
  }
  bool outlives_process() const override { return false; }
  bool cut_power() override { return true; }  // a restart is one
  bool fail_syncs() override {
    store_.fail({.sync_errors = 1'000'000});
    return true;
  }
  bool fail_reads() override {
    store_.fail({.read_errors = 1'000'000});
    return true;
  }
  bool rot(const raft::Entry& entry) override {
    store_.rot(entry.index);
    return true;
  }

 private:
  LogInPassingTime store_;
};

INSTANTIATE_TEST_SUITE_P(Sim, LogStoreSuite, ::testing::Values([] { return std::make_unique<SimLogHarness>(); }));
INSTANTIATE_TEST_SUITE_P(Sim, StateStoreSuite, ::testing::Values([] { return std::make_unique<SimStateHarness>(); }));

}  // namespace
}  // namespace coordkit::testkit

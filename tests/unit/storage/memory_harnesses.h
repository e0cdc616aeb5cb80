// The stores in memory as media of the conformance suites.
#pragma once

#include <optional>

#include "coordkit/storage/memory_stores.h"
#include "coordkit/testing/log_store_fixture.h"
#include "coordkit/testing/state_store_fixture.h"

namespace coordkit::testkit {

class MemoryLogHarness : public LogStoreHarness {
 public:
  LogStore& restart() override {
    store_.close();
    return store_;
  }
  bool outlives_process() const override { return false; }
  bool rot(const raft::Entry& entry) override {
    store_.rot(entry.index);
    return true;
  }
  bool cut_power() override { return true; }  // what was completed is there, and everything is at once
  bool fail_syncs() override {
    store_.fail(absl::DataLossError("input/output error"));
    return true;
  }
  std::optional<absl::Status> open_twice() override {
    LogSinkProbe other;
    return store_.open(other).status();
  }

 private:
  static inline uint64_t media_ = 0;
  MemoryLogStore store_{StoreId(700 + ++media_)};
};

class MemoryStateHarness : public StateStoreHarness {
 public:
  StateStore& restart() override {
    store_.close();
    return store_;
  }
  bool outlives_process() const override { return false; }
  bool cut_power() override { return true; }  // what was completed is there, and everything is at once
  bool fail_syncs() override {
    store_.fail(absl::DataLossError("input/output error"));
    return true;
  }
  std::optional<absl::Status> open_twice() override {
    StateSinkProbe other;
    return store_.open(other).status();
  }

 private:
  MemoryStateStore store_;
};

}  // namespace coordkit::testkit

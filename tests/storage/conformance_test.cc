// Our own stores against the suites that any adapter runs.
#include <filesystem>
#include <fstream>

#include "coordkit/storage/data_directory.h"
#include "coordkit/storage/lmdb_state_store.h"
#include "coordkit/storage/memory_stores.h"
#include "coordkit/storage/segmented_log_store.h"
#include "coordkit/testing/log_store_suite.h"
#include "coordkit/testing/state_store_suite.h"
#include "tests/storage/temporary_directory.h"

namespace coordkit::testing {
namespace {

class MemoryLogHarness final : public LogStoreHarness {
 public:
  LogStore& restart() override {
    store_.close();
    return store_;
  }
  bool rot(const raft::Entry& entry) override {
    store_.rot(entry.index);
    return true;
  }

 private:
  MemoryLogStore store_{StoreId(7)};
};

class MemoryStateHarness final : public StateStoreHarness {
 public:
  StateStore& restart() override {
    store_.close();
    return store_;
  }

 private:
  MemoryStateStore store_;
};

std::shared_ptr<DataDirectory> open_directory(const TemporaryDirectory& parent) {
  auto directory = DataDirectory::open({.path = parent / "data", .cluster = "orders"});
  EXPECT_TRUE(directory.ok()) << directory.status().ToString();
  return *std::move(directory);
}

class SegmentedLogHarness final : public LogStoreHarness {
 public:
  explicit SegmentedLogHarness(SegmentedLogOptions options) : options_(options) {}
  LogStore& restart() override {
    store_.reset();
    store_ = std::make_unique<SegmentedLogStore>(open_directory(directory_), options_);
    return *store_;
  }
  bool rot(const raft::Entry& entry) override {
    for (const auto& file : std::filesystem::directory_iterator(directory_ / "data/log")) {
      std::fstream stream(file.path(), std::ios::binary | std::ios::in | std::ios::out);
      std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
      const size_t at = bytes.find(entry.payload.view());
      if (at == std::string::npos) continue;
      stream.clear();
      stream.seekp(static_cast<std::streamoff>(at));
      stream.put(static_cast<char>(bytes[at] ^ 1));
    }
    return true;
  }

 private:
  const SegmentedLogOptions options_;
  TemporaryDirectory directory_;
  std::unique_ptr<SegmentedLogStore> store_;
};

class LmdbStateHarness final : public StateStoreHarness {
 public:
  StateStore& restart() override {
    store_.reset();
    store_ = std::make_unique<LmdbStateStore>(open_directory(directory_), LmdbStateOptions{.map_bytes = 1 << 30});
    return *store_;
  }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<LmdbStateStore> store_;
};

constexpr SegmentedLogOptions kTinySegments{.segment_bytes = 64 << 10, .small_segment_bytes = 64 << 10};
constexpr SegmentedLogOptions kOneAtATime{.segment_bytes = 256 << 10, .small_segment_bytes = 64 << 10, .batch_bytes_max = 1};

LogStoreHarnessFactory segmented(SegmentedLogOptions options) {
  return [options] { return std::make_unique<SegmentedLogHarness>(options); };
}

INSTANTIATE_TEST_SUITE_P(Memory, LogStoreSuite, ::testing::Values([] { return std::make_unique<MemoryLogHarness>(); }));
INSTANTIATE_TEST_SUITE_P(Segmented, LogStoreSuite, ::testing::Values(segmented({.segment_bytes = 4 << 20})));
INSTANTIATE_TEST_SUITE_P(TinySegments, LogStoreSuite, ::testing::Values(segmented(kTinySegments)));
INSTANTIATE_TEST_SUITE_P(OneAtATime, LogStoreSuite, ::testing::Values(segmented(kOneAtATime)));
INSTANTIATE_TEST_SUITE_P(Memory, StateStoreSuite, ::testing::Values([] { return std::make_unique<MemoryStateHarness>(); }));
INSTANTIATE_TEST_SUITE_P(Lmdb, StateStoreSuite, ::testing::Values([] { return std::make_unique<LmdbStateHarness>(); }));

}  // namespace
}  // namespace coordkit::testing

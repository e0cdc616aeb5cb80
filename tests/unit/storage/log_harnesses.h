// The segmented log over media that can be damaged.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/random.h"
#include "coordkit/storage/data_directory.h"
#include "coordkit/storage/segmented_log_store.h"
#include "coordkit/testing/log_store_fixture.h"
#include "tests/unit/log/shared_disk.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {

// How the files of a segmented log hold entries, as bytes: a header of 56 and the payload.
inline bool flip_payload(std::string& file, const raft::Entry& entry) {
  const size_t at = file.find(entry.payload.view());
  if (at == std::string::npos) return false;
  file[at] = static_cast<char>(file[at] ^ 1);
  return true;
}
inline bool exchange_records(std::string& file, const raft::Entry& one, const raft::Entry& other) {
  constexpr size_t kHeaderBytes = 56;
  const size_t first = file.find(one.payload.view()), second = file.find(other.payload.view());
  if (first == std::string::npos || second == std::string::npos) return false;
  std::swap_ranges(file.begin() + static_cast<ptrdiff_t>(first - kHeaderBytes),
                   file.begin() + static_cast<ptrdiff_t>(first + one.payload.size()),
                   file.begin() + static_cast<ptrdiff_t>(second - kHeaderBytes));
  return true;
}

inline absl::StatusOr<std::shared_ptr<DataDirectory>> open_data(const TemporaryDirectory& parent) {
  return DataDirectory::open({.path = parent / "data", .cluster = "orders"});
}
inline std::shared_ptr<DataDirectory> open_directory(const TemporaryDirectory& parent) {
  auto directory = open_data(parent);
  EXPECT_TRUE(directory.ok()) << directory.status().ToString();
  return *std::move(directory);
}

// On real files.
class SegmentedLogHarness : public LogStoreHarness {
 public:
  explicit SegmentedLogHarness(SegmentedLogOptions options) : options_(options) {}
  LogStore& restart() override {
    store_.reset();
    store_ = std::make_unique<SegmentedLogStore>(open_directory(directory_), options_);
    return *store_;
  }
  bool rot(const raft::Entry& entry) override {
    return change_files([&](std::string& file) { return flip_payload(file, entry); });
  }
  bool exchange(const raft::Entry& one, const raft::Entry& other) override {
    return change_files([&](std::string& file) { return exchange_records(file, one, other); });
  }
  std::optional<absl::Status> open_twice() override {
    const auto second = open_data(directory_);
    if (!second.ok()) return second.status();
    LogSinkProbe probe;
    SegmentedLogStore store(*second, options_);
    return store.open(probe).status();
  }

 private:
  bool change_files(const std::function<bool(std::string&)>& change) const {
    bool changed = false;
    for (const auto& file : std::filesystem::directory_iterator(directory_ / "data/log")) {
      std::ifstream in(file.path(), std::ios::binary);
      std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      if (!change(bytes)) continue;
      std::ofstream(file.path(), std::ios::binary | std::ios::in) << bytes;
      changed = true;
    }
    return changed;
  }

  const SegmentedLogOptions options_;
  TemporaryDirectory directory_;
  std::unique_ptr<SegmentedLogStore> store_;
};

// On a disk in memory that can fail in every way a disk can.
class RecordedLogHarness : public LogStoreHarness {
 public:
  using FilesWrapper = std::function<std::unique_ptr<FileSystem>(std::unique_ptr<FileSystem>)>;
  // `wrap`: what the store sees in place of the disk; empty: the disk.
  explicit RecordedLogHarness(FilesWrapper wrap = {}) : wrap_(std::move(wrap)) {}

  LogStore& restart() override {
    store_.reset();
    Image left = std::move(image());
    image_.reset();
    disk_ = std::make_unique<SharedDisk>(std::move(left));
    store_ = std::make_unique<SegmentedLogStore>(
        id_, BootCounter(++boots_), files(), SegmentedLogOptions{.segment_bytes = 64 << 10, .small_segment_bytes = 64 << 10});
    return *store_;
  }
  bool outlives_process() const override { return false; }
  bool rot(const raft::Entry& entry) override {
    return change_files([&](std::string& file) { return flip_payload(file, entry); });
  }
  bool exchange(const raft::Entry& one, const raft::Entry& other) override {
    return change_files([&](std::string& file) { return exchange_records(file, one, other); });
  }
  bool cut_power() override {
    const double share = static_cast<double>(random_.below(3)) / 2;  // nothing of the rest, half of it, all of it
    image_ = disk_->with([&](RecordingFs& fs) { return fs.crash(fs.changes().size(), [&] { return random_.chance(share); }); });
    return true;
  }
  bool fail_syncs() override { return fail("sync"); }
  bool fail_reads() override { return fail("pread"); }
  bool set_full(bool full) override {
    disk_->with([&](RecordingFs& fs) { fs.limit_space(full ? fs.used() : uint64_t{1} << 40); });
    return true;
  }

 private:
  SegmentedLogStore::FileSystemFactory files() {
    if (!wrap_) return disk_->factory();
    return [this]() -> absl::StatusOr<std::unique_ptr<FileSystem>> { return wrap_(*disk_->factory()()); };
  }
  Image& image() {
    if (!image_) image_ = disk_ ? disk_->with([](RecordingFs& fs) { return fs.now(); }) : Image();
    return *image_;
  }
  bool change_files(const std::function<bool(std::string&)>& change) {
    bool changed = false;
    for (auto& [file, bytes] : image().files) changed = change(bytes) || changed;
    return changed;
  }
  bool fail(const char* what) {
    disk_->with([&](RecordingFs& fs) { fs.fail_calls(what, absl::DataLossError("input/output error")); });
    return true;
  }

  const FilesWrapper wrap_;
  Random random_{11};
  std::optional<Image> image_;  // what the next restart finds; else what is there
  std::unique_ptr<SharedDisk> disk_;
  std::unique_ptr<SegmentedLogStore> store_;
  uint64_t boots_ = 0;
  static inline uint64_t media_ = 0;
  const StoreId id_{77'000 + ++media_};
};

// A store used by a host that lends its thread: deferred writes are performed at once, alternately here and on another thread.
class LendingLog final : public LogStore {
 public:
  explicit LendingLog(LogStore& store) : store_(store) {}
  ~LendingLog() override { LendingLog::close(); }
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override { return store_.open(sink); }
  void checkpointed(Index applied) override { store_.checkpointed(applied); }
  void submit(LogWrite write) override {
    if (!store_.defer(std::move(write))) return;
    join();
    if (++lent_ % 2 == 0) return store_.perform_deferred();
    beside_ = std::thread([this] { store_.perform_deferred(); });
  }
  void read(Index first, Index last, size_t bytes_max) override { store_.read(first, last, bytes_max); }
  void scrub(Index from, std::function<void(LogScrub)> done) override { store_.scrub(from, std::move(done)); }
  void compact(Position through) override { store_.compact(through); }
  void close() override {
    store_.close();
    join();
  }

 private:
  void join() {
    if (beside_.joinable()) beside_.join();
  }
  LogStore& store_;
  std::thread beside_;
  int lent_ = 0;
};

template <typename Harness>
class LendingHarness final : public Harness {
 public:
  using Harness::Harness;
  LogStore& restart() override {
    lending_.reset();
    return lending_.emplace(Harness::restart());
  }

 private:
  std::optional<LendingLog> lending_;
};

}  // namespace coordkit::testkit

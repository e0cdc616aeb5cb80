// A RecordingFs for several threads, like the two of a segmented log store.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/log/recording_fs.h"

namespace coordkit::testkit {

// One disk in memory for both threads of a store.
class SharedDisk {
 public:
  explicit SharedDisk(Image start = {}) : disk_(std::move(start)) {}

  std::function<absl::StatusOr<std::unique_ptr<FileSystem>>()> factory() {
    return [this]() -> absl::StatusOr<std::unique_ptr<FileSystem>> { return std::make_unique<Locked>(*this); };
  }
  template <typename Use>
  auto with(Use use) {
    const std::scoped_lock lock(mutex_);
    return use(disk_);
  }

 private:
  class LockedFile final : public File {
   public:
    LockedFile(SharedDisk& disk, std::unique_ptr<File> file) : disk_(disk), file_(std::move(file)) {}
    absl::Status pwrite(uint64_t offset, std::string_view bytes) override {
      return disk_.with([&](RecordingFs&) { return file_->pwrite(offset, bytes); });
    }
    absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const override {
      return disk_.with([&](RecordingFs&) { return file_->pread(offset, length); });
    }
    absl::Status sync() override {
      return disk_.with([&](RecordingFs&) { return file_->sync(); });
    }
    absl::StatusOr<uint64_t> size() const override {
      return disk_.with([&](RecordingFs&) { return file_->size(); });
    }

   private:
    SharedDisk& disk_;
    const std::unique_ptr<File> file_;
  };
  class Locked final : public FileSystem {
   public:
    explicit Locked(SharedDisk& disk) : disk_(disk) {}
    absl::StatusOr<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override {
      auto file = disk_.with([&](RecordingFs& disk) { return disk.open(name, mode); });
      if (!file.ok()) return file.status();
      return std::make_unique<LockedFile>(disk_, *std::move(file));
    }
    absl::Status rename(std::string_view from, std::string_view to) override {
      return disk_.with([&](RecordingFs& disk) { return disk.rename(from, to); });
    }
    absl::Status remove(std::string_view name) override {
      return disk_.with([&](RecordingFs& disk) { return disk.remove(name); });
    }
    absl::Status sync_dir() override {
      return disk_.with([&](RecordingFs& disk) { return disk.sync_dir(); });
    }
    absl::StatusOr<std::vector<std::string>> list() override {
      return disk_.with([&](RecordingFs& disk) { return disk.list(); });
    }
    absl::StatusOr<uint64_t> free_bytes() override {
      return disk_.with([&](RecordingFs& disk) { return disk.free_bytes(); });
    }

   private:
    SharedDisk& disk_;
  };

  std::mutex mutex_;
  RecordingFs disk_;
};

}  // namespace coordkit::testkit

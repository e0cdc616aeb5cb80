// Replicas in this process whose disks stop answering in the middle of a sync, for as long as the test wants.
#include <array>
#include <condition_variable>
#include <mutex>

#include "coordkit/parts.h"
#include "coordkit/storage/data_directory.h"
#include "storage/posix_file_system.h"
#include "tests/replica/cluster.h"

namespace coordkit::testing {
namespace {

// Who syncs waits here while it is shut.
class Gate {
 public:
  void shut() { set(true); }
  void open() { set(false); }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !shut_; });
    --waiting_;
  }
  void wait_for_somebody() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }

 private:
  void set(bool shut) {
    const std::lock_guard lock(mutex_);
    shut_ = shut;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool shut_ = false;
  int waiting_ = 0;
};

class GatedFile final : public File {
 public:
  GatedFile(std::unique_ptr<File> file, Gate& gate) : file_(std::move(file)), gate_(gate) {}
  absl::Status pwrite(uint64_t offset, std::string_view bytes) override { return file_->pwrite(offset, bytes); }
  absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const override { return file_->pread(offset, length); }
  absl::Status sync() override {
    gate_.pass();
    return file_->sync();
  }
  absl::StatusOr<uint64_t> size() const override { return file_->size(); }

 private:
  const std::unique_ptr<File> file_;
  Gate& gate_;
};

class GatedFiles final : public FileSystem {
 public:
  GatedFiles(std::unique_ptr<FileSystem> files, Gate& gate) : files_(std::move(files)), gate_(gate) {}
  absl::StatusOr<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override {
    absl::StatusOr<std::unique_ptr<File>> file = files_->open(name, mode);
    if (!file.ok()) return file.status();
    return std::make_unique<GatedFile>(*std::move(file), gate_);
  }
  absl::Status rename(std::string_view from, std::string_view to) override { return files_->rename(from, to); }
  absl::Status remove(std::string_view name) override { return files_->remove(name); }
  absl::Status sync_dir() override { return files_->sync_dir(); }
  absl::StatusOr<std::vector<std::string>> list() override { return files_->list(); }
  absl::StatusOr<uint64_t> free_bytes() override { return files_->free_bytes(); }

 private:
  const std::unique_ptr<FileSystem> files_;
  Gate& gate_;
};

PartFactory<FileSystem> behind(Gate& gate) {
  return [&gate](const PartContext& context) -> absl::StatusOr<std::unique_ptr<FileSystem>> {
    auto files = storage::PosixFileSystem::open(context.directory->log_path());
    if (!files.ok()) return files.status();
    return std::make_unique<GatedFiles>(*std::move(files), gate);
  };
}

// Whichever of them leads: the loop's own thread hangs in the sync, and its callers are answered all the same.
TEST(StalledDiskTest, FLT_P11_CallersAreAnsweredWhileASyncOfTheirReplicaNeverEnds) {
  std::array<Gate, 3> gates;
  Cluster cluster;
  for (uint64_t id = 1; id <= 3; ++id) {
    ReplicaOptions options = cluster.options(id);
    options.parts.log_files = behind(gates[id - 1]);
    ASSERT_NO_FATAL_FAILURE(cluster.open(std::move(options)));
  }
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster[id].wait_ready(kPatience), IsOk());
  const auto put = [&](uint64_t id, const std::string& value) {
    return cluster[id].put("key", value, {.timeout = kPatience}).status();
  };
  for (uint64_t id = 1; id <= 3; ++id) {
    for (int i = 0; i < 40; ++i) ASSERT_THAT(put(id, "quick"), IsOk());  // the disks are known to be
    gates[id - 1].shut();
    EXPECT_THAT(put(id, "from behind the disk"), IsOk());
    gates[id - 1].wait_for_somebody();
    for (uint64_t other = 1; other <= 3; ++other) EXPECT_THAT(put(other, "meanwhile"), IsOk()) << id << " stands still";
    EXPECT_NE(cluster[id].health().state, ReplicaState::Halted);
    gates[id - 1].open();
    ASSERT_TRUE(eventually([&] { return cluster[id].health().state == ReplicaState::Ready; }));
  }
}

}  // namespace
}  // namespace coordkit::testing

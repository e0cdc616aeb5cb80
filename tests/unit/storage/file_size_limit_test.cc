// A process with a limit of its files' size (ulimit -f) must not end: whatever does not fit is an error.
#include "tests/unit/storage/file_size_limit.h"

#include <gtest/gtest.h>

#include <csignal>

#include "coordkit/error.h"
#include "coordkit/locks/fence.h"
#include "storage/directory_copy.h"
#include "storage/posix_file_system.h"
#include "storage/state/lmdb_table.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit {
namespace {

using testkit::FileSizeLimit;
using testkit::TemporaryDirectory;

bool signal_is_held_or_pending() {
  sigset_t held, pending;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &held);
  ::sigpending(&pending);
  return ::sigismember(&held, SIGXFSZ) != 0 || ::sigismember(&pending, SIGXFSZ) != 0;
}

TEST(FileSizeLimitTest, AWriteBeyondItFailsAndLeavesNoSignalBehind) {
  TemporaryDirectory directory;
  const auto files = storage::PosixFileSystem::open(directory.path()).value();
  const auto file = files->open("file", OpenMode::CreateNew).value();
  absl::Status wrote, allocated;
  {
    const FileSizeLimit limit(4096);
    wrote = file->pwrite(4000, std::string(200, 'x'));
    allocated = files->allocate("spare", 8192);
  }
  EXPECT_EQ(reason_of(wrote), Reason::LimitExceeded) << wrote;
  EXPECT_EQ(reason_of(allocated), Reason::LimitExceeded) << allocated;
  EXPECT_FALSE(signal_is_held_or_pending());
  EXPECT_FALSE(std::filesystem::exists(directory / "spare"));
  EXPECT_TRUE(file->pwrite(4000, std::string(200, 'x')).ok());
}

TEST(FileSizeLimitTest, AFenceGateThatDoesNotFitIsNotMade) {
  TemporaryDirectory directory;
  absl::Status opened;
  {
    const FileSizeLimit limit(4096);
    opened = FileFenceGate::open(directory / "gate").status();
  }
  EXPECT_EQ(reason_of(opened), Reason::LimitExceeded) << opened;
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  EXPECT_TRUE(FileFenceGate::open(directory / "gate").ok());
}

TEST(FileSizeLimitTest, ACopyOfADirectoryThatDoesNotFitIsRefusedAndLeavesNothing) {
  TemporaryDirectory directory, below;
  const auto files = storage::PosixFileSystem::open(directory.path()).value();
  ASSERT_TRUE(files->open("file", OpenMode::CreateNew).value()->pwrite(0, std::string(8192, 'x')).ok());
  absl::Status copied;
  {
    const FileSizeLimit limit(4096);
    copied = storage::DirectoryCopy::make(directory.path(), below.path()).status();
  }
  EXPECT_EQ(reason_of(copied), Reason::LimitExceeded) << copied;
  EXPECT_FALSE(signal_is_held_or_pending());
  EXPECT_TRUE(std::filesystem::is_empty(below.path()));
}

TEST(FileSizeLimitTest, ACheckpointThatDoesNotFitWaitsAsOnAFullDisk) {
  TemporaryDirectory directory;
  const storage::LmdbTable::Options options{
      .path = directory.path(), .store = StoreId(5), .map_bytes_max = 64 << 20, .views_max = 4};
  const auto table = storage::LmdbTable::open(options).value();
  CheckpointBatch batch;
  batch.applied = {Index(1), Term(1)};
  batch.put("row", std::string(1 << 20, 'x'));
  absl::Status wrote;
  {
    const FileSizeLimit limit(std::filesystem::file_size(directory / "data.mdb"));
    wrote = table->write(batch);
  }
  EXPECT_TRUE(absl::IsUnavailable(wrote)) << wrote;
  EXPECT_FALSE(signal_is_held_or_pending());
  EXPECT_EQ(table->write(batch), absl::OkStatus());
}

// LMDB calls a write that fell short at the limit an input/output error, which ended the replica.
TEST(FileSizeLimitTest, ACheckpointOfWhichSomeFitsWaitsAsOnAFullDisk) {
  TemporaryDirectory directory;
  const storage::LmdbTable::Options options{
      .path = directory.path(), .store = StoreId(5), .map_bytes_max = 64 << 20, .views_max = 4};
  const auto table = storage::LmdbTable::open(options).value();
  CheckpointBatch batch;
  batch.applied = {Index(1), Term(1)};
  batch.put("row", std::string(1 << 20, 'x'));
  for (const rlim_t fits : {1 << 10, 64 << 10, 900 << 10}) {
    absl::Status wrote;
    {
      const FileSizeLimit limit(std::filesystem::file_size(directory / "data.mdb") + fits);
      wrote = table->write(batch);
    }
    EXPECT_TRUE(absl::IsUnavailable(wrote)) << fits << wrote;
  }
  EXPECT_EQ(table->write(batch), absl::OkStatus());
}

}  // namespace
}  // namespace coordkit

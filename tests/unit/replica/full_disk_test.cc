// A replica on a full disk: a small file system of the test's own, filled to the last block.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {
namespace {

class FullDiskTest : public ::testing::Test {
 protected:
  // The mount is this thread's and its children's alone, and goes with the process.
  void SetUp() override {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
      GTEST_SKIP() << "this machine does not let a test have mounts of its own: " << std::strerror(errno);
    }
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", disk_.path().c_str(), "tmpfs", 0, "size=24m") != 0) {
      GTEST_SKIP() << "this machine does not let a test mount a tmpfs: " << std::strerror(errno);
    }
    mounted_ = true;
  }
  void TearDown() override {
    replica_.reset();
    if (mounted_) {
      EXPECT_EQ(::umount2(disk_.path().c_str(), MNT_DETACH), 0);
    }
  }

  void open() {
    ReplicaOptions options = cluster_.options(1);
    options.data_dir = disk_.path() / "data";
    auto replica = Replica::open(options);
    ASSERT_THAT(replica.status(), IsOk());
    replica_ = *std::move(replica);
    ASSERT_THAT(replica_->wait_ready(kPatience), IsOk());
  }
  void fill() {
    const int file = ::open(filler_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    const std::string block(4096, 'f');
    while (::write(file, block.data(), block.size()) > 0) {
    }
    EXPECT_EQ(errno, ENOSPC);
    ::close(file);
  }
  absl::Status put(const std::string& key) { return replica_->put(key, std::string(1000, 'v'), {.timeout = 5s}).status(); }
  void expect_key(const std::string& key) {
    const auto got = replica_->get(key);
    ASSERT_THAT(got.status(), IsOk());
    EXPECT_TRUE(got->entry) << key;
  }

  Cluster cluster_{1};
  Folder disk_;
  const std::filesystem::path filler_ = disk_.path() / "filler";
  std::unique_ptr<Replica> replica_;
  bool mounted_ = false;
};

// Covers: FLT_D04
TEST_F(FullDiskTest, AStartOnAFullDiskServesWhatItHasAndGoesOnWhenThereIsRoom) {
  ASSERT_NO_FATAL_FAILURE(open());
  for (int i = 0; i < 100; ++i) ASSERT_THAT(put("key-" + std::to_string(i)), IsOk());
  replica_.reset();
  ASSERT_NO_FATAL_FAILURE(fill());

  for (int restart = 0; restart < 2; ++restart) {
    ASSERT_NO_FATAL_FAILURE(open()) << restart;
    for (int i = 0; i < 100; ++i) expect_key("key-" + std::to_string(i));
    replica_.reset();
    ASSERT_NO_FATAL_FAILURE(fill());
  }

  ASSERT_NO_FATAL_FAILURE(open());
  absl::Status status;
  int written = 0;
  bool waited = false;  // the first for which there is no room may have been taken before that was known, and waits for some
  while ((status.ok() || (reason_of(status) == Reason::CallTimeout && !std::exchange(waited, true))) && written < 100'000) {
    status = put("more-" + std::to_string(written++));
  }
  EXPECT_THAT(status, HasCode(absl::StatusCode::kResourceExhausted));
  expect_key("more-0");
  std::filesystem::remove(filler_);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    status = put("last");
  } while (!status.ok() && std::chrono::steady_clock::now() < end);
  EXPECT_THAT(status, IsOk());
  expect_key("last");
}

}  // namespace
}  // namespace coordkit::testkit

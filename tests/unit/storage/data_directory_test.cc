#include "coordkit/storage/data_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>

#include "storage/identity.h"
#include "tests/unit/log/recording_fs.h"
#include "tests/unit/storage/directory_syncs.h"
#include "tests/unit/storage/lmdb_calls.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::map<std::string, std::string> tree(const std::string& path) {
  std::map<std::string, std::string> files;
  for (const auto& item : std::filesystem::recursive_directory_iterator(path)) {
    files[item.path().string()] = item.is_regular_file() ? contents(item.path()) : "directory";
  }
  return files;
}

// From now on no directory of this process can be synced: the disk has no room. False: the kernel has no such filter.
bool refuse_fsync() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {.len = std::size(program), .filter = program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

template <typename Run>
int exit_of_child(Run run) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(run());
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int kNoFilter = 2;

// Zero: what was to become durable in the directory found no room, twice.
template <typename Store>
int refused_twice_without_fsync(Store store) {
  return exit_of_child([&] {
    if (!refuse_fsync()) return kNoFilter;
    const bool first = absl::IsResourceExhausted(store());
    return first && absl::IsResourceExhausted(store()) ? 0 : 1;
  });
}

class DataDirectoryTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::shared_ptr<DataDirectory>> open(std::string cluster = "orders", uint64_t replica = 1) {
    return DataDirectory::open({.path = path_, .cluster = std::move(cluster), .replica = ReplicaId(replica)});
  }
  void expect_refused_untouched(absl::StatusCode code, const std::string& cluster = "orders", uint64_t replica = 1) {
    const auto before = tree(parent_.path());
    const auto refused = open(cluster, replica);
    EXPECT_EQ(refused.status().code(), code) << refused.status().ToString();
    EXPECT_GT(refused.status().message().size(), 20u) << "a sentence a user can act on";
    EXPECT_EQ(tree(parent_.path()), before);
  }

  TemporaryDirectory parent_;
  const std::string path_ = parent_ / "data";
};

TEST_F(DataDirectoryTest, StoreIdStaysAndBootCounterRisesWithEveryOpen) {
  StoreId store;
  for (uint64_t boot = 1; boot <= 3; ++boot) {
    const auto directory = open();
    ASSERT_TRUE(directory.ok()) << directory.status().ToString();
    EXPECT_EQ((*directory)->boot(), BootCounter(boot));
    EXPECT_TRUE(!store || (*directory)->store() == store);
    store = (*directory)->store();
  }
  EXPECT_TRUE(store);
}

// Covers: FLT_P17
TEST_F(DataDirectoryTest, ASecondOpenFailsAtOnceWhileTheFirstLives) {
  auto first = open();
  ASSERT_TRUE(first.ok());
  const auto second = open();
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status()));
  EXPECT_NE(second.status().message().find("is already open in another process"), std::string_view::npos);
  first->reset();
  EXPECT_TRUE(open().ok());
}

// Covers: FLT_P17
TEST_F(DataDirectoryTest, ASecondProcessIsRefused) {
  const auto first = open();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(exit_of_child([this] { return absl::IsFailedPrecondition(open().status()) ? 0 : 1; }), 0);
}

// Covers: FLT_D13
TEST_F(DataDirectoryTest, ADirectoryOfAnotherClusterOrReplicaIsRefused) {
  ASSERT_TRUE(open().ok());
  expect_refused_untouched(absl::StatusCode::kFailedPrecondition, "payments");
  expect_refused_untouched(absl::StatusCode::kFailedPrecondition, "orders", 2);
}

// Covers: FLT_D13
TEST_F(DataDirectoryTest, ForeignFilesAreRefusedAndNothingIsTouched) {
  std::filesystem::create_directory(path_);
  overwrite(path_ + "/thesis.tex", "my life's work");
  expect_refused_untouched(absl::StatusCode::kFailedPrecondition);
}

// Covers: FLT_D13
TEST_F(DataDirectoryTest, WhatIsStoredIsNotToBeGivenUpForAForeignFile) {
  ASSERT_TRUE(open().ok());
  overwrite(path_ + "/thesis.tex", "my life's work");
  const std::string refused = open().status().ToString();
  EXPECT_NE(refused.find("'thesis.tex', which is not coordkit's; move it away"), std::string::npos) << refused;
}

// Covers: FLT_D13
TEST_F(DataDirectoryTest, AFileInPlaceOfTheDirectoryIsRefused) {
  overwrite(path_, "a file");
  expect_refused_untouched(absl::StatusCode::kFailedPrecondition);
}

// Covers: FLT_D14
TEST_F(DataDirectoryTest, ANewerOrUnknownFormatIsRefusedAndNothingIsTouched) {
  ASSERT_TRUE(open().ok());
  const std::string good = contents(path_ + "/identity");
  std::string newer = good;
  newer[8] = 2;
  overwrite(path_ + "/identity", newer);
  expect_refused_untouched(absl::StatusCode::kFailedPrecondition);
  overwrite(path_ + "/identity", std::string(100, 'x'));
  expect_refused_untouched(absl::StatusCode::kFailedPrecondition);
}

TEST_F(DataDirectoryTest, ARelativePathMeansWhatItMeantAtTheOpen) {
  const std::string elsewhere = parent_ / "elsewhere";
  std::filesystem::create_directory(elsewhere);
  const auto directory = [&] {
    const WorkingDirectory here(parent_.path());
    return DataDirectory::open({.path = "data///", .cluster = "orders"});
  }();
  ASSERT_TRUE(directory.ok()) << directory.status();
  const WorkingDirectory there(elsewhere);
  EXPECT_EQ((*directory)->path(), path_);
  EXPECT_TRUE((*directory)->still_there().ok());
  EXPECT_TRUE(std::filesystem::is_directory((*directory)->log_path()));
}

// Covers: FLT_D13 FLT_D15
TEST_F(DataDirectoryTest, ADirectoryThatWasMovedAwayOrReplacedIsNotItself) {
  const auto directory = open();
  ASSERT_TRUE(directory.ok()) << directory.status();
  EXPECT_TRUE((*directory)->still_there().ok());
  std::filesystem::rename(path_, parent_ / "away");
  EXPECT_TRUE(absl::IsDataLoss((*directory)->still_there()));
  std::filesystem::create_directory(path_);
  EXPECT_TRUE(absl::IsDataLoss((*directory)->still_there()));
  std::filesystem::remove(path_);
  std::filesystem::rename(parent_ / "away", path_);
  EXPECT_TRUE((*directory)->still_there().ok());
}

// Covers: FLT_D04 FLT_D16
TEST_F(DataDirectoryTest, AReserveThatIsNotWholeIsMadeAnew) {
  const auto directory = open();
  ASSERT_TRUE(directory.ok()) << directory.status();
  for (const uint64_t bytes : {0, 5000}) {
    overwrite(path_ + "/reserve", std::string(bytes, '\0'));
    EXPECT_TRUE((*directory)->keep_reserve().ok());
    EXPECT_EQ(std::filesystem::file_size(path_ + "/reserve"), 4u << 20);
  }
}

// Covers: FLT_D05
TEST_F(DataDirectoryTest, ARottenOrMissingIdentityIsNeverReplaced) {
  ASSERT_TRUE(open().ok());
  const std::string good = contents(path_ + "/identity");
  for (size_t at = 12; at < good.size(); ++at) {
    std::string rotten = good;
    rotten[at] ^= 1;
    overwrite(path_ + "/identity", rotten);
    ASSERT_NO_FATAL_FAILURE(expect_refused_untouched(absl::StatusCode::kDataLoss)) << "byte " << at;
  }
  std::filesystem::remove(path_ + "/identity");
  expect_refused_untouched(absl::StatusCode::kDataLoss);
}

TEST_F(DataDirectoryTest, BadOptionsAndAMissingParentAreSentences) {
  EXPECT_TRUE(absl::IsInvalidArgument(open("").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(open(std::string(300, 'x')).status()));
  const auto orphan = DataDirectory::open({.path = parent_ / "no/such/data", .cluster = "orders"});
  EXPECT_TRUE(absl::IsNotFound(orphan.status()));
  EXPECT_NE(orphan.status().message().find("parent"), std::string_view::npos);
}

// Covers: FLT_D15
TEST_F(DataDirectoryTest, AnUnwritableDirectoryIsPermissionDenied) {
  std::filesystem::create_directory(path_);
  const pid_t child = ::fork();
  if (child == 0) {  // without root's privileges
    ::chmod(parent_.path().c_str(), 0755);
    ::chmod(path_.c_str(), 0555);
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(2);
    ::_exit(absl::IsPermissionDenied(open().status()) ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// Covers: FLT_D16
TEST(IdentityTest, EveryCrashWhileItIsStoredLeavesTheOldOrTheNewOne) {
  using storage::Identity;
  RecordingFs disk;
  ASSERT_TRUE(storage::store_identity(disk, {.store = StoreId(1), .boot = BootCounter(1), .cluster = "orders"}).ok());
  const size_t first = disk.changes().size();
  ASSERT_TRUE(storage::store_identity(disk, {.store = StoreId(1), .boot = BootCounter(2), .cluster = "orders"}).ok());
  for_each_crash(disk, 8, 10, 1, [&](size_t count, const Image& image) {
    RecordingFs after(image);
    const auto identity = storage::load_identity(after);
    if (count < first) {
      ASSERT_TRUE(identity.ok() || absl::IsNotFound(identity.status())) << identity.status().ToString();
    } else {
      ASSERT_TRUE(identity.ok()) << identity.status().ToString();
      ASSERT_TRUE(count < disk.changes().size() || identity->boot == BootCounter(2));
    }
  });
}

// Covers: FLT_D03 FLT_D15
TEST(IdentityTest, EveryCallFailsOnce) {
  for (uint64_t failing = 1; failing <= 6; ++failing) {
    RecordingFs disk;
    disk.fail_call(failing, absl::ResourceExhaustedError("injected"));
    const absl::Status status = storage::store_identity(disk, {.store = StoreId(1), .cluster = "orders"});
    EXPECT_TRUE(disk.has_failed());
    EXPECT_TRUE(absl::IsResourceExhausted(status));
  }
}

// A start that had made it could be killed before it synced the name; the next one took the directory as it was, and all that
// was acknowledged in it was gone with the power.
// Covers: FLT_D17
TEST_F(DataDirectoryTest, TheNameOfADirectoryThatWasThereIsMadeDurableToo) {
  for (const bool there : {false, true}) {
    std::filesystem::remove_all(path_);
    if (there) std::filesystem::create_directory(path_);
    const DirectorySyncs syncs;
    ASSERT_TRUE(open().ok());
    EXPECT_TRUE(syncs.has(parent_.path())) << there;
  }
}

TEST_F(DataDirectoryTest, ADirectoryWhoseParentOnlyOthersMayReadIsOpened) {
  std::filesystem::create_directory(path_);
  const int opened = exit_of_child([&] {  // without root's privileges
    ::chmod(parent_.path().c_str(), 0311);
    if (::geteuid() == 0 && (::chown(path_.c_str(), 65534, 65534) != 0 || ::seteuid(65534) != 0)) return 2;
    return open().ok() ? 0 : 1;
  });
  ::chmod(parent_.path().c_str(), 0755);
  EXPECT_EQ(opened, 0);
}

// As a mount point in a system of squashfs or erofs, whose directories cannot be synced either.
TEST_F(DataDirectoryTest, ADirectoryMountedWhereNothingCanBeSyncedIsOpened) {
  std::filesystem::create_directory(path_);
  const int own = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int around = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_TRUE(own >= 0 && around >= 0);
  ASSERT_NE(::fsync(around), 0);
  const std::string mounted = "/proc/self/fd/" + std::to_string(own);
  EXPECT_EQ(DataDirectory::open({.path = mounted, .cluster = "orders", .replica = ReplicaId(1)}).status(), absl::OkStatus());
  ::close(own);
  ::close(around);
}

// Covers: FLT_D21
TEST_F(DataDirectoryTest, ThatThereIsALogIsKnownWithoutTheLog) {
  {
    const auto directory = open();
    ASSERT_TRUE(directory.ok()) << directory.status();
    EXPECT_FALSE((*directory)->had_log());
    EXPECT_TRUE((*directory)->note_log().ok());
    EXPECT_TRUE((*directory)->note_log().ok()) << "twice is no error";
  }
  std::filesystem::remove_all(path_ + "/log");
  const auto again = open();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE((*again)->had_log());
}

// Covers: FLT_D03 FLT_D21
TEST_F(DataDirectoryTest, ThatThereIsALogIsNotKnownBeforeItsNameIsDurable) {
  const auto directory = open();
  ASSERT_TRUE(directory.ok()) << directory.status();
  const int refused = refused_twice_without_fsync([&] { return (*directory)->note_log(); });
  if (refused == kNoFilter) GTEST_SKIP() << "no system call can be refused here";
  EXPECT_EQ(refused, 0);
  EXPECT_TRUE((*directory)->note_log().ok());
}

// statvfs says nothing about a user's quota: the start that needed the reserve left it where it was, and failed.
// Covers: FLT_D04
TEST_F(DataDirectoryTest, AStartAtTheEndOfAQuotaUsesTheReserve) {
  ASSERT_TRUE((*open())->keep_reserve().ok());
  LmdbCalls::set_room(LmdbCalls::Room::Quota);
  const auto directory = open();
  LmdbCalls::set_room(LmdbCalls::Room::Enough);
  ASSERT_TRUE(directory.ok()) << directory.status();
  EXPECT_FALSE(std::filesystem::exists(path_ + "/reserve"));
}

// Covers: FLT_D03 FLT_D04
TEST_F(DataDirectoryTest, AReserveIsNotThereBeforeItsNameIsDurable) {
  const auto directory = open();
  ASSERT_TRUE(directory.ok()) << directory.status();
  const int refused = refused_twice_without_fsync([&] { return (*directory)->keep_reserve(); });
  if (refused == kNoFilter) GTEST_SKIP() << "no system call can be refused here";
  EXPECT_EQ(refused, 0);
  EXPECT_FALSE(std::filesystem::exists(path_ + "/reserve"));
  EXPECT_TRUE((*directory)->keep_reserve().ok());
}

}  // namespace
}  // namespace coordkit::testkit

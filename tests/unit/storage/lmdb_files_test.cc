#include "storage/state/lmdb_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {
namespace {

class LmdbFilesTest : public ::testing::Test {
 protected:
  LmdbFilesTest() {
    std::ofstream(path_) << "some pages";
    EXPECT_TRUE(files_.note().ok());
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/data";
  storage::LmdbFiles files_{path_};
};

// The size was read after the file had been looked at: a commit in between made the file look too short, and a replica with
// nothing wrong stepped aside.
// Covers: FLT_D08
TEST_F(LmdbFilesTest, AFileThatGrowsMeanwhileIsNotTakenForOneThatWasCutShort) {
  constexpr off_t kCommits = 20'000;
  std::thread writer([this] {
    for (off_t commit = 1; commit <= kCommits; ++commit) {
      ASSERT_EQ(::truncate(path_.c_str(), 4096 * commit), 0);
      files_.note_growth();
    }
  });
  uint64_t refused = 0;
  while (std::filesystem::file_size(path_) < 4096 * kCommits) refused += files_.unchanged().ok() ? 0 : 1;
  writer.join();
  EXPECT_EQ(refused, 0u);
}

// Covers: FLT_D08
TEST_F(LmdbFilesTest, AFileThatIsShorterThanItWasIsRefused) {
  ASSERT_EQ(::truncate(path_.c_str(), 8192), 0);
  files_.note_growth();
  EXPECT_TRUE(files_.unchanged().ok());
  ASSERT_EQ(::truncate(path_.c_str(), 4096), 0);
  EXPECT_TRUE(absl::IsDataLoss(files_.unchanged())) << files_.unchanged();
}

}  // namespace
}  // namespace coordkit::testkit

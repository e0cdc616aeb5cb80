// The simulated file system keeps what was synced, loses the rest in every way it describes, and lies only when told to.
#include "sim/world/file_system.h"

#include <gtest/gtest.h>

#include <set>

namespace coordkit::sim {
namespace {

std::string page(char c) { return std::string(kPageBytes, c); }

class SimFileSystemTest : public ::testing::Test {
 protected:
  // A file that was synced, name and all.
  std::unique_ptr<File> durable_file(const std::string& name, const std::string& bytes) {
    auto file = *files_.open(name, OpenMode::CreateNew);
    EXPECT_TRUE(file->pwrite(0, bytes).ok());
    EXPECT_TRUE(file->sync().ok());
    EXPECT_TRUE(files_.sync_dir().ok());
    return file;
  }
  std::string content(const std::string& name) {
    auto file = files_.open(name, OpenMode::Read);
    return file.ok() ? *(*file)->pread(0, 1 << 20) : "none";
  }

  SimFileSystem files_{Random(1)};
};

TEST_F(SimFileSystemTest, ReadsGiveWhatWasWrittenAcrossPagesAndZerosBetween) {
  auto file = *files_.open("a", OpenMode::CreateNew);
  ASSERT_TRUE(file->pwrite(kPageBytes - 3, "abcdef").ok());
  ASSERT_TRUE(file->pwrite(3 * kPageBytes, "g").ok());
  EXPECT_EQ(*file->size(), 3 * kPageBytes + 1);
  EXPECT_EQ(*file->pread(kPageBytes - 4, 8), std::string("\0abcdef\0", 8));
  EXPECT_EQ(*file->pread(3 * kPageBytes, 100), "g");
  EXPECT_EQ(*file->pread(4 * kPageBytes, 100), "");
}

// Covers: FLT_P02
TEST_F(SimFileSystemTest, WhatWasSyncedSurvivesALossOfPower) {
  durable_file("a", page('a') + page('b'));
  files_.lose_power();
  EXPECT_EQ(content("a"), page('a') + page('b'));
}

// Covers: FLT_D01 FLT_D17
TEST_F(SimFileSystemTest, UnsyncedSectorsSurviveInAnyMixtureAndNothingElseChanges) {
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    files_ = SimFileSystem(Random(seed));
    auto file = durable_file("a", page('a') + page('a'));
    ASSERT_TRUE(file->pwrite(0, page('b') + page('b')).ok());
    file.reset();
    files_.lose_power();
    const std::string after = content("a");
    ASSERT_EQ(after.size(), 2 * kPageBytes);
    std::string sectors;
    for (size_t at = 0; at < after.size(); at += kSectorBytes) {
      ASSERT_EQ(after.substr(at, kSectorBytes), std::string(kSectorBytes, after[at]));
      sectors += after[at];
    }
    seen.insert(sectors);
  }
  EXPECT_TRUE(seen.contains(std::string(16, 'a')));
  EXPECT_TRUE(seen.contains(std::string(16, 'b')));
  EXPECT_TRUE(seen.contains(std::string(8, 'a') + std::string(8, 'b'))) << "the second page without the first";
  EXPECT_GT(seen.size(), 50u);
}

// Covers: FLT_D11
TEST_F(SimFileSystemTest, NamesThatWereNotSyncedMayBeOldOrNew) {
  std::set<std::vector<std::string>> seen;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    files_ = SimFileSystem(Random(seed));
    durable_file("a", "a");
    durable_file("b", "b");
    ASSERT_TRUE(files_.rename("a", "c").ok());
    ASSERT_TRUE(files_.remove("b").ok());
    files_.lose_power();
    seen.insert(*files_.list());
  }
  const std::set<std::vector<std::string>> possible = {{"a", "b"}, {"b", "c"}, {"c"}, {"a"}};
  EXPECT_EQ(seen, possible);
}

TEST_F(SimFileSystemTest, AProcessThatDiesLosesNothing) {
  auto file = *files_.open("a", OpenMode::CreateNew);
  ASSERT_TRUE(file->pwrite(0, "unsynced").ok());
  file.reset();
  EXPECT_EQ(content("a"), "unsynced");
}

// Covers: FLT_D03
TEST_F(SimFileSystemTest, APageOfAFailedSyncIsReadableUntilThePowerGoes) {
  size_t lost = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    files_ = SimFileSystem(Random(seed));
    auto file = durable_file("a", page('a'));
    ASSERT_TRUE(file->pwrite(0, page('b')).ok());
    files_.set_faults({.sync_errors = 1'000'000});
    EXPECT_TRUE(absl::IsDataLoss(file->sync()));
    files_.set_faults({});
    EXPECT_TRUE(file->sync().ok()) << "the page counts as clean";
    file.reset();
    EXPECT_EQ(content("a"), page('b'));
    const bool ghost = files_.holds_ghosts();
    files_.lose_power();
    EXPECT_EQ(content("a"), ghost ? page('a') : page('b'));
    lost += ghost ? 1 : 0;
  }
  EXPECT_GT(lost, 0u);
  EXPECT_LT(lost, 20u);
}

TEST_F(SimFileSystemTest, SomeErrorsHitTheCallsOfSomeFilesAndNoOthers) {
  auto other = durable_file("b", page('b'));
  files_.fail_some({.of = [](std::string_view name) { return name == "a"; }, .after = 2, .count = 2});
  const auto others = [&] { return other->sync().ok() && files_.sync_dir().ok() && files_.rename("b", "c").ok(); };
  EXPECT_TRUE(others());
  auto file = *files_.open("a", OpenMode::CreateNew);
  EXPECT_TRUE(file->pwrite(0, page('a')).ok());
  EXPECT_TRUE(absl::IsDataLoss(file->sync()));
  EXPECT_TRUE(absl::IsDataLoss(files_.rename("b", "a"))) << "a new name counts";
  EXPECT_TRUE(file->sync().ok()) << "that was the last one";
  EXPECT_TRUE(files_.remove("a").ok());
}

// Covers: FLT_D10
TEST_F(SimFileSystemTest, ALyingSyncIsFoundOutByALossOfPower) {
  auto file = durable_file("a", page('a'));
  files_.set_faults({.lying_syncs = true});
  ASSERT_TRUE(file->pwrite(0, page('b')).ok());
  EXPECT_TRUE(file->sync().ok());
  files_.set_faults({});
  EXPECT_TRUE(file->sync().ok());
  file.reset();
  EXPECT_EQ(content("a"), page('b'));
  files_.lose_power();
  EXPECT_EQ(content("a"), page('a'));
}

// Covers: FLT_D04
TEST_F(SimFileSystemTest, FilesDoNotGrowBeyondTheQuotaAndMayBeOverwritten) {
  auto file = durable_file("a", page('a'));
  files_.set_faults({.bytes_max = kPageBytes + 10});
  EXPECT_TRUE(absl::IsResourceExhausted(file->pwrite(kPageBytes, page('b'))));
  EXPECT_EQ(*file->size(), kPageBytes);
  EXPECT_TRUE(file->pwrite(0, page('b')).ok());
  EXPECT_TRUE(file->pwrite(kPageBytes, "0123456789").ok());
  EXPECT_EQ(*files_.free_bytes(), 0u);
}

// Covers: FLT_D09
TEST_F(SimFileSystemTest, AMisdirectedPageIsMissingInOnePlaceAndTooMuchInAnother) {
  durable_file("a", page('a') + page('b'));
  auto file = durable_file("c", page('c'));
  files_.misdirect_next_write("a", 1);
  ASSERT_TRUE(file->pwrite(0, page('d')).ok());
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(*file->pread(0, kPageBytes), page('d')) << "the cache knows no better";
  file.reset();
  files_.lose_power();
  EXPECT_EQ(content("a"), page('a') + page('d'));
  EXPECT_EQ(content("c"), page('c'));
}

// Covers: FLT_D02
TEST_F(SimFileSystemTest, RotChangesOnePageOnDisk) {
  durable_file("a", page('a') + page('b'));
  ASSERT_TRUE(files_.rot("a", 1));
  EXPECT_FALSE(files_.rot("a", 2));
  EXPECT_EQ(content("a").substr(0, kPageBytes), page('a'));
  EXPECT_NE(content("a").substr(kPageBytes), page('b'));
}

// Covers: FLT_P18
TEST_F(SimFileSystemTest, AnImagePutBackIsTheDirectoryAsItWasAndDurable) {
  auto file = durable_file("a", page('a'));
  ASSERT_TRUE(file->pwrite(kPageBytes, "unsynced").ok());
  const SimFileSystem::Image image = files_.image();
  SimFileSystem other(Random(2));
  other.restore(image);
  other.lose_power();
  EXPECT_EQ(other.image(), image);
  EXPECT_EQ(image.at("a"), page('a') + "unsynced");
}

}  // namespace
}  // namespace coordkit::sim

// Segments in reserve: which one is taken, and what becomes of the others.
#include <gtest/gtest.h>

#include <string>

#include "base/check.h"
#include "log/segment.h"
#include "log/spare_segments.h"
#include "tests/unit/log/recording_fs.h"

namespace coordkit::testkit {
namespace {

using log::FileUse;
using log::SpareSegments;

constexpr uint64_t kSmall = 32 << 10;
constexpr uint64_t kLarge = 64 << 10;

class SparesTest : public ::testing::Test {
 protected:
  uint32_t made(uint64_t bytes) {
    const absl::Status status = spares_.make(bytes);
    EXPECT_TRUE(status.ok()) << status;
    return ++last_;
  }
  uint32_t opened(uint64_t bytes) {
    const absl::StatusOr<SpareSegments::Open> spare = spares_.open(bytes);
    EXPECT_TRUE(spare.ok()) << spare.status();
    return spare.ok() && spare->file ? spare->number : 0;
  }
  bool on_disk(FileUse use, uint32_t number) const { return disk_.now().names.contains(log::file_name(use, number)); }

  const log::LogOptions options_{.segment_bytes = kLarge, .small_segment_bytes = kSmall, .spares = 3};
  RecordingFs disk_;
  SpareSegments spares_{disk_, options_};
  uint32_t last_ = 0;  // number
};

TEST_F(SparesTest, TheFirstThatIsLargeEnoughIsTaken) {
  made(kSmall);
  const uint32_t large = made(kLarge);
  made(kLarge);
  EXPECT_EQ(opened(kSmall + 1), large);
  EXPECT_EQ(opened(kLarge + 1), 0u) << "none can hold so much";
}

// A sync lies between the two, and it may retire segments.
TEST_F(SparesTest, OneIsForgottenAmongOthersThatCameAfterItWasOpened) {
  const uint32_t first = made(kLarge);
  EXPECT_EQ(opened(kLarge), first);
  const uint32_t second = made(kLarge);
  auto segment = disk_.open(log::file_name(FileUse::Segment, 9), OpenMode::CreateNew);
  ASSERT_TRUE(segment.ok() && log::fill_with_zeros(**segment, 0, kLarge).ok());
  spares_.retire(9, kLarge);
  EXPECT_TRUE(on_disk(FileUse::Spare, 9));
  spares_.forget(first);
  EXPECT_EQ(spares_.bytes(), 2 * kLarge);
  EXPECT_EQ(opened(kLarge), second);
  spares_.forget(second);
  EXPECT_EQ(opened(kLarge), 9u);
}

TEST_F(SparesTest, ASegmentTooManyOrOfAnotherSizeIsRemoved) {
  auto segment = disk_.open(log::file_name(FileUse::Segment, 9), OpenMode::CreateNew);
  ASSERT_TRUE(segment.ok());
  spares_.retire(9, kSmall);  // a small one was made on the spot; spares have the full size
  EXPECT_FALSE(on_disk(FileUse::Segment, 9) || on_disk(FileUse::Spare, 9));
  for (int i = 0; i < 3; ++i) made(kLarge);
  EXPECT_FALSE(spares_.wanted());
  segment = disk_.open(log::file_name(FileUse::Segment, 10), OpenMode::CreateNew);
  ASSERT_TRUE(segment.ok());
  spares_.retire(10, kLarge);
  EXPECT_FALSE(on_disk(FileUse::Segment, 10) || on_disk(FileUse::Spare, 10));
}

TEST_F(SparesTest, OneThatIsGoneOrCutShortIsPassedOver) {
  const uint32_t gone = made(kLarge);
  ASSERT_TRUE(disk_.remove(log::file_name(FileUse::Spare, gone)).ok());
  spares_.add(50, kLarge);  // its file is too short
  ASSERT_TRUE(disk_.open(log::file_name(FileUse::Spare, 50), OpenMode::CreateNew).ok());
  const uint32_t whole = made(kLarge);
  EXPECT_EQ(opened(kLarge), whole);
  EXPECT_EQ(spares_.bytes(), kLarge) << "the others are no spares";
  EXPECT_FALSE(on_disk(FileUse::Spare, 50));
}

// Covers: FLT_D22
TEST_F(SparesTest, OneThatCannotBeOpenedIsDroppedAndSaid) {
  const uint32_t bad = made(kLarge);
  const uint32_t good = made(kLarge);
  disk_.fail_spares(1, 1, absl::DataLossError("EIO"));
  EXPECT_EQ(opened(kLarge), good);
  EXPECT_FALSE(on_disk(FileUse::Spare, bad));
  EXPECT_TRUE(absl::IsDataLoss(spares_.take_failure()));
  EXPECT_TRUE(spares_.take_failure().ok()) << "once";
}

// Covers: FLT_D22
TEST_F(SparesTest, OneThatCannotBeMadeOnTheSpotMayBeTriedAgain) {
  for (uint64_t failing = 1; failing <= 4; ++failing) {  // open, write, sync, rename
    disk_.fail_spares(failing, 1, absl::DataLossError("EIO"));
    EXPECT_TRUE(absl::IsUnavailable(spares_.make(kLarge))) << failing;
    ++last_;
    EXPECT_EQ(spares_.bytes(), 0u);
    EXPECT_TRUE(disk_.now().names.empty()) << failing;
  }
  const uint32_t one = made(kLarge);
  EXPECT_EQ(opened(kLarge), one);
}

// The directory names the segments too.
// Covers: FLT_D03
TEST_F(SparesTest, AFailedSyncOfTheDirectoryIsNoMatterOfOneSpare) {
  disk_.fail_calls("sync_dir", absl::DataLossError("EIO"));
  EXPECT_TRUE(absl::IsDataLoss(spares_.make(kLarge)));
}

// Covers: FLT_D22
TEST_F(SparesTest, ASegmentThatCannotBeRenamedIsNoSpare) {
  auto segment = disk_.open(log::file_name(FileUse::Segment, 9), OpenMode::CreateNew);
  ASSERT_TRUE(segment.ok());
  disk_.fail_calls("rename", absl::DataLossError("EIO"));
  spares_.retire(9, kLarge);
  EXPECT_EQ(spares_.bytes(), 0u);
  EXPECT_TRUE(spares_.wanted());
  EXPECT_FALSE(spares_.take_failure().ok());
}

// Covers: FLT_S02
TEST_F(SparesTest, NumbersEndAndNeverBeginAgain) {
  spares_.number_from(0xffffffff);
  EXPECT_EQ(spares_.take_number(), 0xffffffff);
  EXPECT_THROW(spares_.take_number(), CheckFailure);
}

TEST_F(SparesTest, WithoutSpaceNothingIsLeftBehindAndItMayBeTriedAgain) {
  disk_.limit_space(kSmall);
  EXPECT_TRUE(absl::IsResourceExhausted(spares_.make(kLarge)));
  EXPECT_TRUE(disk_.now().names.empty());
  EXPECT_EQ(spares_.bytes(), 0u);
  disk_.limit_space(4 * kLarge);
  ++last_;
  EXPECT_EQ(opened(kLarge), 0u);
  const uint32_t one = made(kLarge);
  EXPECT_EQ(opened(kLarge), one) << "no number is used twice";
}

}  // namespace
}  // namespace coordkit::testkit

// Errors of a file that holds nothing yet: whichever call of it fails, the log continues, and no synced entry is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "coordkit/testing/entries.h"
#include "log/log.h"
#include "tests/unit/log/recording_fs.h"

namespace coordkit::testkit {
namespace {

constexpr uint64_t kSegment = 64 << 10;
constexpr log::LogOptions kOptions{.store = StoreId(9), .segment_bytes = kSegment, .small_segment_bytes = kSegment};

// A log that fills a segment after the other and is compacted, so that it makes spares, uses them, and gets others back.
class SpareErrorsTest : public ::testing::Test {
 protected:
  void open() {
    absl::StatusOr<log::OpenedLog> opened = log::Log::open(*disk_, kOptions);
    ASSERT_TRUE(opened.ok()) << opened.status();
    log_ = std::move(opened->log);
  }
  // As a store does with an error that may pass.
  absl::Status append(uint64_t index) {
    const LogWrite write{.number = WriteNumber(index), .entries = entries(index, 1, 1, 6000)};
    absl::Status status = log_->append({&write, 1});
    for (int i = 0; i < 20 && log_->may_retry(status); ++i) status = log_->append({&write, 1});
    return status.ok() ? log_->sync() : status;
  }
  void prepare() {
    if (!log_->spares().wanted()) return;
    log::SpareMaker maker(*disk_, log_->spares().take_number(), log_->spares().segment_bytes());
    const absl::StatusOr<bool> made = maker.step(log_->spares().segment_bytes());
    if (made.ok()) {
      log_->spares().add(maker.number(), maker.capacity());
    } else {
      EXPECT_FALSE(maker.directory_failed());
      maker.discard().IgnoreError();
    }
  }
  void work() {
    for (uint64_t index = 1; index <= kEntries; ++index) {
      const absl::Status status = append(index);
      ASSERT_TRUE(status.ok()) << "entry " << index << ": " << status;
      if (index % 7 == 0) prepare();
      const Index forgotten(index % 16 == 0 ? index - 8 : 0);
      ASSERT_TRUE(log_->compact({forgotten, Term(1)}).ok());
      dropped_ += log_->spares().take_failure().ok() ? 0 : 1;
    }
  }
  void expect_whole(const Image& image) {
    RecordingFs after(image);
    const absl::StatusOr<log::OpenedLog> opened = log::Log::open(after, kOptions);
    ASSERT_TRUE(opened.ok()) << opened.status();
    ASSERT_EQ(opened->base.index.next().value() + opened->entries.size(), kEntries + 1);
    EXPECT_EQ(opened->entries, entries(opened->base.index.value() + 1, opened->entries.size(), 1, 6000));
    EXPECT_TRUE(opened->damaged.empty());
  }

  static constexpr uint64_t kEntries = 60;
  std::unique_ptr<RecordingFs> disk_ = std::make_unique<RecordingFs>();
  std::unique_ptr<log::Log> log_;
  int dropped_ = 0;
};

// Covers: FLT_D22 INV_S10
TEST_F(SpareErrorsTest, AnyCallOfASpareThatFailsCostsThatSpareAndNoEntry) {
  uint64_t calls = 1;
  for (uint64_t failing = 1; failing <= calls; ++failing) {
    for (const uint64_t count : {1, 3}) {
      log_.reset();
      disk_ = std::make_unique<RecordingFs>();
      open();
      disk_->fail_spares(failing, count, absl::DataLossError("EIO"));
      ASSERT_NO_FATAL_FAILURE(work()) << "with the call " << failing << " of a spare failing";
      calls = std::max(calls, disk_->spare_calls());
      log_.reset();
      expect_whole(disk_->now());
      expect_whole(disk_->crash(disk_->changes().size(), [] { return false; }));
    }
  }
  EXPECT_GT(calls, 20u);
  EXPECT_GT(dropped_, 5) << "some were in use as the next segment, or were segments before";
}

// A spare that is being made into a segment is one until it has its name.
// Covers: FLT_D03
TEST_F(SpareErrorsTest, ARenameToASegmentThatFailsIsFinal) {
  open();
  prepare();
  disk_->fail_calls("rename", absl::DataLossError("EIO"));
  absl::Status status;
  uint64_t index = 0;
  while (status.ok() && index < 30) status = append(++index);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_EQ(log_->failure(), status);
}

// Covers: FLT_D22
TEST_F(SpareErrorsTest, WithoutAnyNewFileAWriteWaitsAndGoesOnOnceThereIsOne) {
  open();
  disk_->fail_spares(1, 1000, absl::DataLossError("EIO"));
  absl::Status status;
  uint64_t index = 0;
  while (status.ok() && index < 30) status = append(++index);
  ASSERT_TRUE(log_->may_retry(status)) << status;
  EXPECT_NE(status.message().find("check this disk"), std::string_view::npos) << status;
  disk_->fail_spares(0, 0, absl::OkStatus());
  EXPECT_TRUE(append(index).ok());
  EXPECT_TRUE(log_->failure().ok());
}

// Covers: FLT_D03
TEST_F(SpareErrorsTest, ADiskOnWhichNoFileCanBeMadeForLongIsFinal) {
  open();
  disk_->fail_spares(1, 1'000'000, absl::DataLossError("EIO"));
  absl::Status status;
  uint64_t index = 0;
  while (status.ok() && index < 30) status = append(++index);
  for (int i = 0; i < log::Log::kSegmentTriesMax && log_->may_retry(status); ++i) status = append(index);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_EQ(log_->failure(), status);
}

}  // namespace
}  // namespace coordkit::testkit

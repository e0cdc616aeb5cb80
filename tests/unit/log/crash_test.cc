// The disk after a crash at any point, with any mixture of unsynced changes, and what the log recovers from it.
#include <gtest/gtest.h>

#include "coordkit/error.h"
#include "tests/unit/log/log_workload.h"

namespace coordkit::testkit {
namespace {

constexpr size_t kExhaustiveMax = 4;  // pieces: up to 16 images per point of time

absl::StatusOr<log::OpenedLog> open(RecordingFs& disk) { return log::Log::open(disk, tiny_segments()); }

std::string summary(const log::OpenedLog& opened) {
  std::string text =
      "base " + std::to_string(opened.base.index.value()) + "/" + std::to_string(opened.base.term.value()) + ", entries";
  for (const raft::Entry& entry : opened.entries) {
    text += " " + std::to_string(entry.index.value()) + "/" + std::to_string(entry.term.value());
  }
  for (const DamagedEntry& damaged : opened.damaged) text += ", damaged " + std::to_string(damaged.index.value());
  return text + ", term " + std::to_string(opened.hard_state.term.value());
}

class CrashTest : public ::testing::TestWithParam<uint64_t> {};

// Covers: INV_S01 INV_S02 FLT_D01 FLT_D16 FLT_D17
TEST_P(CrashTest, EveryCrashImageRecoversWhatWasDurableAndNothingElse) {
  RecordingFs disk;
  LogWorkload work(disk, GetParam());
  ASSERT_TRUE(work.open().ok());
  for (int i = 0; i < 25; ++i) {
    const absl::Status status = work.step();
    ASSERT_TRUE(status.ok()) << status.ToString();
    if (i != 12) continue;
    ASSERT_TRUE(work.open().ok());  // a restart in between, so that segments are replaced
  }
  size_t images = 0;
  for_each_crash(disk, kExhaustiveMax, 3, GetParam(), [&](size_t count, const Image& image) {
    if (::testing::Test::HasFailure()) return;
    ++images;
    RecordingFs after(image);
    const auto opened = open(after);
    ASSERT_TRUE(opened.ok()) << "after " << count << " changes: " << opened.status().ToString();
    ASSERT_TRUE(opened->damaged.empty()) << "after " << count << " changes: " << summary(*opened);
    ASSERT_TRUE(work.allows(count, *opened)) << "after " << count << " changes, " << opened->entries.size() << " entries";

    RecordingFs again(after.now());
    const auto twice = open(again);
    ASSERT_TRUE(twice.ok()) << twice.status().ToString();
    ASSERT_TRUE(same(*opened, *twice)) << "recovering twice is not recovering once, after " << count
                                       << " changes: " << summary(*opened) << " then " << summary(*twice);
    RecordingFs lost(after.crash(after.changes().size(), [] { return false; }));
    const auto synced = open(lost);
    ASSERT_TRUE(synced.ok()) << synced.status().ToString();
    ASSERT_TRUE(same(*opened, *synced)) << "open() returned before it was durable, after " << count << " changes";
  });
  EXPECT_GT(images, 100u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, CrashTest, ::testing::Range<uint64_t>(1, 7));

// The tail of an unclean open exists in the page cache only; each crash inside recovery must leave it, or what was durable.
// Covers: FLT_P09 REG_R31
TEST(CrashTest, CrashInsideRecoveryLosesNothing) {
  RecordingFs disk;
  LogWorkload work(disk, 99);
  ASSERT_TRUE(work.open().ok());
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(work.step().ok());
  const size_t count = disk.changes().size();
  RecordingFs first(disk.crash(count, [] { return true; }));
  ASSERT_TRUE(open(first).ok());
  for_each_crash(first, kExhaustiveMax, 5, 5, [&](size_t, const Image& image) {
    RecordingFs second(image);
    const auto opened = open(second);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    ASSERT_TRUE(work.model().agrees_with(*opened));
  });
}

// Covers: FLT_P09 INV_S07
TEST(CrashTest, RestartsDoNotPileUpFiles) {
  Image image;
  for (int i = 0; i < 200; ++i) {
    RecordingFs disk(image);
    auto opened = open(disk);
    ASSERT_TRUE(opened.ok());
    const uint64_t last = opened->log->state().last.index.value();
    const LogWrite step{.entries = entries(last + 1, 1, 1)};
    ASSERT_TRUE(opened->log->append({&step, 1}).ok());
    ASSERT_TRUE(opened->log->sync().ok());
    image = disk.now();
    // Files without a name are garbage of the model.
    std::erase_if(image.files, [&](const auto& file) {
      return std::none_of(image.names.begin(), image.names.end(), [&](const auto& name) { return name.second == file.first; });
    });
  }
  RecordingFs disk(image);
  const auto opened = open(disk);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->entries, entries(1, 200, 1));
  EXPECT_LE(disk.now().names.size(), 5u);
}

class FailingCallTest : public ::testing::TestWithParam<absl::StatusCode> {};

// One call in the whole life of a log fails: the error is reported, or it is one of a file that holds nothing. Nothing
// acknowledged is lost, and the next open works.
// Covers: FLT_D03 FLT_D04 FLT_D15 REG_R31
TEST_P(FailingCallTest, EveryCallFailsOnce) {
  uint64_t calls = 0;
  {
    RecordingFs disk;
    LogWorkload work(disk, 3);
    ASSERT_TRUE(work.open().ok());
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(work.step().ok());
    calls = disk.calls();
  }
  for (uint64_t failing = 1; failing <= calls; ++failing) {
    RecordingFs disk;
    disk.fail_call(failing, absl::Status(GetParam(), "injected"));
    LogWorkload work(disk, 3);
    absl::Status status = work.open();
    for (int i = 0; i < 30 && status.ok(); ++i) status = work.step();
    ASSERT_TRUE(disk.has_failed());
    ASSERT_TRUE(!status.ok() || disk.failed_needless()) << "call " << failing << " failed without being reported";
    const size_t count = disk.changes().size();
    for (const bool survives : {false, true}) {
      RecordingFs after(disk.crash(count, [survives] { return survives; }));
      const auto opened = open(after);
      ASSERT_TRUE(opened.ok()) << opened.status().ToString();
      ASSERT_TRUE(opened->damaged.empty());
      ASSERT_TRUE(!work.log_is_open() || work.allows(count, *opened)) << "call " << failing;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Errors, FailingCallTest,
                         ::testing::Values(absl::StatusCode::kDataLoss, absl::StatusCode::kResourceExhausted));

// Covers: FLT_D03
TEST(LogFailureTest, AFailedSyncIsFinal) {
  RecordingFs disk;
  auto opened = open(disk);
  ASSERT_TRUE(opened.ok());
  const LogWrite step{.entries = entries(1, 1, 1)};
  ASSERT_TRUE(opened->log->append({&step, 1}).ok());
  disk.fail_call(disk.calls() + 1, absl::DataLossError("EIO"));
  EXPECT_FALSE(opened->log->sync().ok());
  const uint64_t calls = disk.calls();
  EXPECT_FALSE(opened->log->sync().ok());
  EXPECT_FALSE(opened->log->append_mark().ok());
  EXPECT_FALSE(opened->log->read(Index(1), Index(1), 100).ok());
  EXPECT_EQ(disk.calls(), calls) << "nothing later may be attempted";
}

// With a spare ready, and with none.
// Covers: FLT_P14
TEST(LogFailureTest, NoDescriptorForASegmentIsNotFinal) {
  for (const bool ready : {false, true}) {
    RecordingFs disk;
    auto opened = open(disk);
    ASSERT_TRUE(opened.ok());
    log::Log& log = *opened->log;
    if (ready) {
      log::SpareMaker maker(disk, log.spares().take_number(), log.spares().segment_bytes());
      ASSERT_TRUE(*maker.step(log.spares().segment_bytes()));
      log.spares().add(maker.number(), maker.capacity());
    }
    disk.fail_calls("open", make_error(Reason::LimitExceeded, "injected"));
    uint64_t index = 0;
    absl::Status status;
    while (status.ok() && index < 100) {
      const LogWrite step{.entries = entries(++index, 1, 1)};
      status = log.append({&step, 1});
    }
    EXPECT_EQ(reason_of(status), Reason::LimitExceeded) << status;
    EXPECT_TRUE(log.failure().ok());
    disk.fail_calls("", absl::OkStatus());
    const LogWrite step{.entries = entries(index, 1, 1)};
    EXPECT_TRUE(log.append({&step, 1}).ok());
    EXPECT_TRUE(log.sync().ok());
  }
}

// Covers: FLT_D04 INV_S07
TEST(LogFailureTest, AStartWithoutSpaceLeavesNothingBehindAndUsesWhatOthersLeft) {
  RecordingFs disk;
  ASSERT_TRUE(open(disk).ok());
  const uint64_t needed = disk.used();
  const Image before = disk.now();
  disk.limit_space(disk.used() + needed / 2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(absl::IsResourceExhausted(open(disk).status()));
    EXPECT_EQ(disk.now().names, before.names);
  }
  {
    auto left = disk.open(log::file_name(log::FileUse::Filling, 500), OpenMode::CreateNew);
    ASSERT_TRUE(left.ok() && log::fill_with_zeros(**left, 0, needed / 2).ok());
  }
  disk.limit_space(disk.used() + needed / 2);
  const auto opened = open(disk);
  EXPECT_TRUE(opened.ok()) << opened.status();
}

// Covers: FLT_D04
TEST(LogFailureTest, NoSpaceForASegmentIsNotFinalAndCompactionFreesSome) {
  RecordingFs disk;
  auto opened = open(disk);
  ASSERT_TRUE(opened.ok());
  log::Log& log = *opened->log;
  disk.limit_space(2 * tiny_segments().small_segment_bytes + 1000);
  uint64_t index = 0;
  absl::Status status;
  while (status.ok()) {
    const LogWrite step{.entries = entries(index + 1, 1, 1)};
    status = log.append({&step, 1});
    if (status.ok()) {
      ++index;
      ASSERT_TRUE(log.sync().ok());
    }
    ASSERT_LT(index, 100u);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_TRUE(log.failure().ok());
  ASSERT_TRUE(log.read(Index(1), Index(index), 1 << 20).ok());
  ASSERT_TRUE(log.compact({Index(index), Term(1)}).ok());
  ASSERT_TRUE(log.append_mark().ok()) << "a segment must keep room for the mark that frees older ones";
  ASSERT_TRUE(log.sync().ok());
  const LogWrite step{.entries = entries(index + 1, 1, 1)};
  EXPECT_TRUE(log.append({&step, 1}).ok());
}

}  // namespace
}  // namespace coordkit::testkit

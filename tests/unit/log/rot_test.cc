// Bytes that were durable and changed afterwards: never cut, never served, named as holes.
#include <gtest/gtest.h>

#include "tests/unit/log/log_workload.h"

namespace coordkit::testkit {
namespace {

constexpr uint64_t kIntactEntries = 60;

log::LogOptions few_segments() { return {.store = kStore, .segment_bytes = 96 << 10, .small_segment_bytes = 96 << 10}; }

// How a log is written.
struct Form {
  uint64_t level = 0;  // of the cluster
  uint64_t batch = 1;  // entries
  size_t bytes = 700;  // of each
};
constexpr Form kSingle;
constexpr Form kRuns{.level = log::kSecondFormatLevel, .batch = 3, .bytes = 3'000};  // but for the first segment

// A log of several segments, closed properly: everything below the last mark.
class RotTest : public ::testing::Test {
 protected:
  void SetUp() override { write(kSingle); }

  void write(const Form& form) {
    RecordingFs disk;
    auto opened = log::Log::open(disk, few_segments());
    ASSERT_TRUE(opened.ok());
    for (uint64_t index = 1; index <= kIntactEntries; index += form.batch) {
      LogWrite step{.entries = entries(index, form.batch, 1 + index / 20, form.bytes), .feature_level = form.level};
      if (index == 31) step.hard_state = kHardState;
      ASSERT_TRUE(opened->log->append({&step, 1}).ok());
      ASSERT_TRUE(opened->log->sync().ok());
      expected_.insert(expected_.end(), step.entries.begin(), step.entries.end());
    }
    ASSERT_TRUE(opened->log->append_mark().ok());
    ASSERT_TRUE(opened->log->sync().ok());
    image_ = disk.now();
  }

  std::vector<std::string> segments() const { return segment_names(image_); }

  // Everything recovered is what was written, and every index is either present or a hole.
  void expect_complete(const log::OpenedLog& opened) {
    EXPECT_EQ(opened.hard_state, kHardState);
    std::vector<bool> seen(kIntactEntries + 1);
    for (const raft::Entry& entry : opened.entries) {
      ASSERT_EQ(entry, expected_[entry.index.value() - 1]);
      seen[entry.index.value()] = true;
    }
    for (const DamagedEntry& damaged : opened.damaged) {
      const raft::Entry& lost = expected_[damaged.index.value() - 1];
      ASSERT_FALSE(seen[damaged.index.value()]);
      ASSERT_TRUE(!damaged.term || damaged.term == lost.term) << "an identity that was never there";
      ASSERT_TRUE(damaged.content_sum == 0 || damaged.content_sum == lost.content_sum);
      seen[damaged.index.value()] = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<std::ptrdiff_t>(kIntactEntries));
  }

  static constexpr raft::HardState kHardState{Term(4), ReplicaId(2)};
  Image image_;
  std::vector<raft::Entry> expected_;
};

class AnyFormRotTest : public RotTest, public ::testing::WithParamInterface<Form> {
 protected:
  void SetUp() override { write(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Forms, AnyFormRotTest, ::testing::Values(kSingle, kRuns),
                         [](const auto& form) { return form.param.level == 0 ? "Single" : "Runs"; });

// Covers: FLT_D02 FLT_D05 FLT_D06 REG_R31
TEST_P(AnyFormRotTest, AnyBadBlockIsAHoleAndNothingIsCut) {
  for (const std::string& name : segments()) {
    const size_t size = image_[name].size();
    for (size_t block = 2; block < size / log::kBlockBytes; ++block) {
      Image rotten = image_;
      std::string& bytes = rotten[name];
      if (bytes.find_first_not_of('\0', block * log::kBlockBytes) >= (block + 1) * log::kBlockBytes) continue;
      for (size_t i = 0; i < log::kBlockBytes; ++i) bytes[block * log::kBlockBytes + i] ^= 0x55;
      RecordingFs disk(rotten);
      const auto opened = log::Log::open(disk, few_segments());
      ASSERT_TRUE(opened.ok()) << opened.status().ToString();
      if (name == segments().back() && opened->damaged.empty() && opened->entries.size() == kIntactEntries)
        continue;  // the mark itself
      ASSERT_NO_FATAL_FAILURE(expect_complete(*opened)) << name << " block " << block;
      RecordingFs again(disk.now());
      const auto twice = log::Log::open(again, few_segments());
      ASSERT_TRUE(twice.ok());
      ASSERT_TRUE(same(*opened, *twice)) << name << " block " << block;
    }
  }
}

// Covers: FLT_D02
TEST_P(AnyFormRotTest, RandomFlipsNeverLoseOrInventAnything) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    Image rotten = image_;
    for (uint64_t flips = random.between(1, 6); flips > 0; --flips) {
      const std::vector<std::string> names = segments();
      std::string& bytes = rotten[names[random.below(names.size() - 1)]];  // not the newest: it holds the highest mark
      bytes[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));
    }
    RecordingFs disk(rotten);
    const auto opened = log::Log::open(disk, few_segments());
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    ASSERT_NO_FATAL_FAILURE(expect_complete(*opened)) << "round " << round;
  }
}

// Covers: FLT_D07
TEST_P(AnyFormRotTest, HardStateSurvivesTheLossOfAnyWholeSegmentBody) {
  const std::vector<std::string> names = segments();
  ASSERT_GE(names.size(), 3u);
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    Image rotten = image_;
    std::string& bytes = rotten[names[i]];
    std::fill(bytes.begin() + log::kFirstBatchOffset, bytes.end(), 'x');
    RecordingFs disk(rotten);
    const auto opened = log::Log::open(disk, few_segments());
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    ASSERT_NO_FATAL_FAILURE(expect_complete(*opened)) << names[i];
  }
}

// Covers: FLT_D11
TEST_P(AnyFormRotTest, AMissingShortOrEmptyMiddleSegmentIsRot) {
  const std::vector<std::string> names = segments();
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    for (const size_t size : {size_t{0}, size_t{5000}, size_t{1} << 40}) {
      Image rotten = image_;
      if (size > 1 << 20) {
        rotten.names.erase(names[i]);
      } else {
        rotten[names[i]].resize(size);
      }
      RecordingFs disk(rotten);
      const auto opened = log::Log::open(disk, few_segments());
      ASSERT_TRUE(opened.ok()) << opened.status().ToString();
      ASSERT_FALSE(opened->damaged.empty());
      ASSERT_NO_FATAL_FAILURE(expect_complete(*opened)) << names[i] << " size " << size;
    }
  }
}

// Everything in it was cut off and written again behind it; each open rewrites the newest segment.
// Covers: FLT_D11
TEST_F(RotTest, ASegmentWhoseEntriesWereCutOffIsNotMissed) {
  const std::string lost = *(segments().end() - 2);
  Image without = image_;
  without.names.erase(lost);
  RecordingFs holed(without);
  const auto holes = log::Log::open(holed, few_segments());
  ASSERT_TRUE(holes.ok());
  ASSERT_FALSE(holes->damaged.empty());
  const Index keep = holes->damaged.front().index.previous();

  RecordingFs disk(image_);
  auto opened = log::Log::open(disk, few_segments());
  ASSERT_TRUE(opened.ok());
  const LogWrite step{.truncate_after = keep, .entries = entries(keep.value() + 1, kIntactEntries - keep.value(), 5, 100)};
  ASSERT_TRUE(opened->log->append({&step, 1}).ok());
  ASSERT_TRUE(opened->log->sync().ok());
  Image image = disk.now();
  ASSERT_EQ(image.names.erase(lost), 1u);
  for (int open = 0; open < 4; ++open) {
    RecordingFs again(image);
    const auto found = log::Log::open(again, few_segments());
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    ASSERT_TRUE(found->damaged.empty()) << "at open " << open << ", first " << found->damaged.front().index.value();
    ASSERT_EQ(found->entries.size(), kIntactEntries);
    EXPECT_EQ(found->entries.back().term, Term(5));
    image = again.now();
  }
}

// Covers: FLT_D09
TEST_F(RotTest, BlocksThatChangedPlacesAreRot) {
  const std::string name = segments().front();
  Image rotten = image_;
  std::string& bytes = rotten[name];
  const std::string a = bytes.substr(log::kFirstBatchOffset, log::kBlockBytes);
  const std::string b = bytes.substr(log::kFirstBatchOffset + log::kBlockBytes, log::kBlockBytes);
  bytes.replace(log::kFirstBatchOffset, log::kBlockBytes, b);
  bytes.replace(log::kFirstBatchOffset + log::kBlockBytes, log::kBlockBytes, a);
  RecordingFs disk(rotten);
  const auto opened = log::Log::open(disk, few_segments());
  ASSERT_TRUE(opened.ok());
  ASSERT_NO_FATAL_FAILURE(expect_complete(*opened));
  ASSERT_EQ(opened->damaged.size(), 2u);
  EXPECT_EQ(opened->damaged[0].index, Index(1));
  EXPECT_EQ(opened->damaged[1].index, Index(2));
}

// Covers: FLT_D05
TEST_F(RotTest, AReadOfARottenEntryIsAnErrorAndOthersAreServed) {
  Image rotten = image_;
  std::string& bytes = rotten[segments().front()];
  const size_t payload = bytes.find(expected_[4].payload.view());
  ASSERT_NE(payload, std::string::npos);
  bytes[payload] ^= 1;
  RecordingFs disk(rotten);
  const auto opened = log::Log::open(disk, few_segments());
  ASSERT_TRUE(opened.ok());
  ASSERT_EQ(opened->damaged.size(), 1u);
  EXPECT_EQ(opened->damaged[0].index, Index(5));
  EXPECT_TRUE(absl::IsDataLoss(opened->log->read(Index(5), Index(9), 1 << 20).status()));
  EXPECT_FALSE(opened->log->read(Index(3), Index(9), 1 << 20).ok()) << "never a shorter answer instead of the error";
  EXPECT_TRUE(opened->log->read(Index(6), Index(9), 1 << 20).ok());
}

TEST_F(RotTest, ATruncationAndTheSameEntriesAgainRepairToo) {
  Image rotten = image_;
  std::string& bytes = rotten[segments().front()];
  std::fill_n(bytes.begin() + log::kFirstBatchOffset, log::kBlockBytes, 'x');
  RecordingFs disk(rotten);
  auto opened = log::Log::open(disk, few_segments());
  ASSERT_TRUE(opened.ok());
  ASSERT_FALSE(opened->damaged.empty());
  LogWrite step{.truncate_after = opened->damaged[0].index.previous()};
  for (uint64_t i = opened->damaged[0].index.value(); i <= kIntactEntries; ++i) step.entries.push_back(expected_[i - 1]);
  ASSERT_TRUE(opened->log->append({&step, 1}).ok());
  ASSERT_TRUE(opened->log->sync().ok());
  RecordingFs again(disk.now());
  const auto repaired = log::Log::open(again, few_segments());
  ASSERT_TRUE(repaired.ok());
  EXPECT_TRUE(repaired->damaged.empty());
  EXPECT_EQ(repaired->entries, expected_);
}

// The next mark names the contents of the previous batch, so a lost header costs only its own entry.
// Covers: FLT_D02
TEST_F(RotTest, ARottenHeaderInABatchOfManyIsOneHole) {
  RecordingFs disk;
  auto opened = log::Log::open(disk, few_segments());
  ASSERT_TRUE(opened.ok());
  const LogWrite step{.entries = entries(1, 9, 1)};
  ASSERT_TRUE(opened->log->append({&step, 1}).ok());
  ASSERT_TRUE(opened->log->sync().ok());
  ASSERT_TRUE(opened->log->append_mark().ok());
  ASSERT_TRUE(opened->log->sync().ok());
  Image rotten = disk.now();
  ASSERT_EQ(rotten.names.size(), 1u);
  std::string& bytes = rotten[rotten.names.begin()->first];
  const size_t payload = bytes.find(step.entries[3].payload.view());
  ASSERT_NE(payload, std::string::npos);
  bytes[payload - log::kRecordHeaderBytes] ^= 1;
  RecordingFs again(rotten);
  const auto hurt = log::Log::open(again, few_segments());
  ASSERT_TRUE(hurt.ok());
  ASSERT_EQ(hurt->damaged.size(), 1u);
  EXPECT_EQ(hurt->damaged[0], (DamagedEntry{Index(4), Term(1), step.entries[3].content_sum}));
  EXPECT_EQ(hurt->entries.size(), 8u);
}

// A loss at the end of the durable log is revealed by the next mark, even if the rest of that batch is torn.
// Covers: FLT_D02
TEST_F(RotTest, ALostEntryBeforeATornBatchIsAHoleNotTheEnd) {
  RecordingFs disk;
  auto opened = log::Log::open(disk, few_segments());
  ASSERT_TRUE(opened.ok());
  const LogWrite step{.entries = entries(1, 3, 1)};
  ASSERT_TRUE(opened->log->append({&step, 1}).ok());
  ASSERT_TRUE(opened->log->sync().ok());
  const LogWrite torn{.entries = entries(4, 1, 1, 9000)};
  ASSERT_TRUE(opened->log->append({&torn, 1}).ok());
  Image image = disk.now();
  ASSERT_EQ(image.names.size(), 1u);
  std::string& bytes = image[image.names.begin()->first];
  bytes[bytes.find(step.entries[2].payload.view()) - log::kRecordHeaderBytes] ^= 1;
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(log::kFirstBatchOffset + 2 * log::kBlockBytes), log::kBlockBytes, 0);
  RecordingFs again(image);
  const auto hurt = log::Log::open(again, few_segments());
  ASSERT_TRUE(hurt.ok());
  EXPECT_EQ(hurt->entries.size(), 2u);
  ASSERT_EQ(hurt->damaged.size(), 1u);
  EXPECT_EQ(hurt->damaged[0].index, Index(3));
}

// The entries that an open carried over end with a mark. That mark alone may be lost; together with the previous batch, nothing
// shows any more how far the log went.
// Covers: FLT_D02 INV_S01
TEST_F(RotTest, ANewestSegmentThatIsRottenUpToItsEndIsDataLossNotAShorterLog) {
  RecordingFs disk;
  {
    auto opened = log::Log::open(disk, few_segments());
    ASSERT_TRUE(opened.ok());
    const LogWrite step{.entries = entries(1, 3, 1)};
    ASSERT_TRUE(opened->log->append({&step, 1}).ok());
    ASSERT_TRUE(opened->log->sync().ok());
  }
  ASSERT_TRUE(log::Log::open(disk, few_segments()).ok());
  image_ = disk.now();
  const std::string newest = segments().back();
  const size_t end = image_[newest].find_last_not_of('\0') / log::kBlockBytes * log::kBlockBytes;
  ASSERT_GT(end, log::kFirstBatchOffset);
  Image rotten = image_;
  rotten[newest][end + 1] ^= 1;
  {
    RecordingFs one(rotten);
    const auto opened = log::Log::open(one, few_segments());
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    EXPECT_EQ(opened->entries, entries(1, 3, 1));
  }
  rotten[newest][end - log::kBlockBytes + 1] ^= 1;
  RecordingFs two(rotten);
  const auto opened = log::Log::open(two, few_segments());
  EXPECT_TRUE(absl::IsDataLoss(opened.status())) << opened.status().ToString();
  EXPECT_TRUE(two.changes().empty());
}

// Covers: FLT_D11 INV_S01
TEST_P(AnyFormRotTest, ANewestSegmentThatWasCutShortIsDataLossNotAShorterLog) {
  const std::string newest = segments().back();
  const size_t whole = image_[newest].size();
  for (const size_t size : {size_t{log::kFirstBatchOffset}, whole / 2, whole - 1}) {
    Image cut = image_;
    cut[newest].resize(size);
    RecordingFs disk(cut);
    const auto opened = log::Log::open(disk, few_segments());
    EXPECT_TRUE(absl::IsDataLoss(opened.status())) << size << " " << opened.status();
    EXPECT_NE(opened.status().message().find(newest), std::string_view::npos);
    EXPECT_TRUE(disk.changes().empty());
  }
}

// Covers: FLT_D11
TEST_P(AnyFormRotTest, WhatFollowsTheFullSizeOfASegmentIsNotOfTheLog) {
  for (const std::string& name : segments()) {
    Image longer = image_;
    longer[name].append(64 * log::kBlockBytes, 'x');
    RecordingFs disk(longer);
    const auto recovered = log::recover(disk, kStore);
    ASSERT_TRUE(recovered.ok()) << recovered.status();
    for (const log::SegmentFile& live : recovered->chain) EXPECT_LE(live.bytes, few_segments().segment_bytes);
    const auto opened = log::Log::open(disk, few_segments());
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_TRUE(opened->damaged.empty());
    EXPECT_EQ(opened->entries, expected_);
  }
}

// Before the reset the log ended at entry 5, behind it at one that is far away: what lies between was never in it.
// Covers: FLT_D02
TEST_F(RotTest, ARottenResetLeavesNoHolesUpToWhereTheLogBeganAgain) {
  constexpr Position kBase{Index(1'000'000'000'000), Term(7)};
  RecordingFs disk;
  auto written = log::Log::open(disk, few_segments());
  ASSERT_TRUE(written.ok());
  const LogWrite before{.entries = entries(1, 5, 1, 100)};
  const LogWrite reset{.reset_to = kBase, .entries = entries(kBase.index.value() + 1, 3, 7, 2'000)};
  const size_t first = log::kFirstBatchOffset + log::kBlockBytes;  // of the reset
  for (const LogWrite& step : {before, reset}) {
    ASSERT_TRUE(written->log->append({&step, 1}).ok());
    ASSERT_TRUE(written->log->sync().ok());
  }
  ASSERT_TRUE(written->log->append_mark().ok());
  ASSERT_TRUE(written->log->sync().ok());
  const Image good = disk.now();
  for (size_t at = first; at < first + 2 * log::kBlockBytes; at += 8) {
    Image rotten = good;
    rotten[segment_names(good).back()][at] ^= 1;
    RecordingFs spoiled(rotten);
    const auto opened = log::Log::open(spoiled, few_segments());
    ASSERT_TRUE(opened.ok()) << opened.status();
    ASSERT_EQ(opened->base, kBase) << at;
    ASSERT_EQ(opened->entries.size() + opened->damaged.size(), 3u) << at;
    for (const raft::Entry& entry : opened->entries) {
      ASSERT_EQ(entry, reset.entries[entry.index - kBase.index - 1]) << at;
    }
  }
}

// Covers: FLT_D13
TEST_F(RotTest, ForeignFilesAreRefusedAndNothingIsTouched) {
  Image foreign = image_;
  foreign.files[9999] = "mine";
  foreign.names["notes.txt"] = 9999;
  RecordingFs disk(foreign);
  const auto opened = log::Log::open(disk, few_segments());
  EXPECT_TRUE(absl::IsFailedPrecondition(opened.status())) << opened.status().ToString();
  EXPECT_NE(opened.status().message().find("notes.txt"), std::string_view::npos);
  EXPECT_TRUE(disk.changes().empty());
}

// Covers: FLT_S02 FLT_D13
TEST_F(RotTest, ANumberAfterWhichThereAreFewIsRefusedAndNothingIsTouched) {
  for (const char* name : {"ffffffff.fill", "ffffffff.spare", "ffffffff.seg", "ffff0001.fill"}) {
    Image foreign = image_;
    foreign.files[9999] = "";
    foreign.names[name] = 9999;
    RecordingFs disk(foreign);
    const auto opened = log::Log::open(disk, few_segments());
    EXPECT_TRUE(absl::IsFailedPrecondition(opened.status())) << opened.status();
    EXPECT_NE(opened.status().message().find(name), std::string_view::npos);
    EXPECT_TRUE(disk.changes().empty());
  }
}

// Covers: FLT_D14
TEST_F(RotTest, ANewerFormatIsRefusedAndNothingIsTouched) {
  Image newer = image_;
  std::string& bytes = newer[segments().back()];
  for (const size_t block : {size_t{0}, log::kBlockBytes}) {
    bytes[block + 8] = static_cast<char>(log::kFormatVersion + 1);
    bytes[block + 40] ^= 1;  // and its sums are computed differently
  }
  RecordingFs disk(newer);
  const auto opened = log::Log::open(disk, few_segments());
  EXPECT_TRUE(absl::IsFailedPrecondition(opened.status())) << opened.status().ToString();
  EXPECT_TRUE(disk.changes().empty());
}

// Covers: REG_R32
TEST(LogInputTest, AnEntryThatDoesNotMatchItsSumIsNeverWritten) {
  RecordingFs disk;
  auto opened = log::Log::open(disk, few_segments());
  ASSERT_TRUE(opened.ok());
  LogWrite step{.entries = entries(1, 1, 1)};
  step.entries[0].content_sum ^= 4;
  const size_t changes = disk.changes().size();
  EXPECT_TRUE(absl::IsDataLoss(opened->log->append({&step, 1})));
  EXPECT_EQ(disk.changes().size(), changes);
}

TEST(LogInputTest, GapsAndTruncationsOutsideOfTheLogAreRefused) {
  for (const LogWrite& step : {LogWrite{.entries = entries(2, 1, 1)}, LogWrite{.truncate_after = Index(1)}}) {
    RecordingFs disk;
    auto opened = log::Log::open(disk, few_segments());
    ASSERT_TRUE(opened.ok());
    EXPECT_TRUE(absl::IsInvalidArgument(opened->log->append({&step, 1})));
  }
}

// Random bytes in every file: any answer but a crash, an unbounded allocation, or invented entries.
TEST_P(AnyFormRotTest, HostileBytesAreNeverBelieved) {
  Random random(11);
  for (int round = 0; round < 100; ++round) {
    Image hostile = image_;
    for (auto& [file, bytes] : hostile.files) {
      const size_t first = random.below(bytes.size() + 1);
      for (size_t i = first; i < std::min(bytes.size(), first + random.below(20'000)); ++i) {
        bytes[i] = static_cast<char>(random());
      }
    }
    RecordingFs disk(hostile);
    const auto opened = log::Log::open(disk, few_segments());
    if (!opened.ok()) continue;
    for (const raft::Entry& entry : opened->entries) ASSERT_EQ(entry, expected_[entry.index.value() - 1]);
  }
}

}  // namespace
}  // namespace coordkit::testkit

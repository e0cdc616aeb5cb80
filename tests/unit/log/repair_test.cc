// Rot that is repaired: intact entries from elsewhere replace the holes, and the log is whole again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordkit/error.h"
#include "tests/unit/log/log_workload.h"

namespace coordkit::testkit {
namespace {

constexpr uint64_t kEntries = 24;

log::LogOptions small_segments() { return {.store = kStore, .segment_bytes = 32 << 10, .small_segment_bytes = 32 << 10}; }

class RepairTest : public ::testing::Test {
 protected:
  // A log of several segments, closed properly, whose entries all have a twin.
  void SetUp() override {
    RecordingFs disk;
    auto opened = open(disk);
    for (uint64_t index = 1; index <= kEntries; index += 2) {
      LogWrite step{.entries = entries(index, 2, 1 + index / 8, 300), .feature_level = level_};
      ASSERT_TRUE(opened.log->append({&step, 1}).ok());
      ASSERT_TRUE(opened.log->sync().ok());
      twin_.insert(twin_.end(), step.entries.begin(), step.entries.end());
    }
    close(opened);
    image_ = disk.now();
  }

  static log::OpenedLog open(RecordingFs& disk) {
    absl::StatusOr<log::OpenedLog> opened = log::Log::open(disk, small_segments());
    if (!opened.ok()) throw std::runtime_error(opened.status().ToString());
    return *std::move(opened);
  }
  static void close(log::OpenedLog& opened) {
    if (!opened.log->progress_due()) return;
    ASSERT_TRUE(opened.log->append_mark().ok());
    ASSERT_TRUE(opened.log->sync().ok());
  }
  // The twin's entries for these holes.
  std::vector<raft::Entry> intact(const std::vector<DamagedEntry>& damaged) const {
    std::vector<raft::Entry> found;
    for (const DamagedEntry& one : damaged) found.push_back(twin_[one.index.value() - 1]);
    return found;
  }
  absl::Status repair(log::OpenedLog& opened, const std::vector<raft::Entry>& with) const {
    const LogWrite write{.repairs = with, .feature_level = level_};
    absl::Status status = opened.log->append({&write, 1});
    return status.ok() ? opened.log->sync() : status;
  }
  void expect_whole(const log::OpenedLog& opened, const std::string& where) const {
    EXPECT_TRUE(opened.damaged.empty()) << where << ": " << opened.damaged.size() << " holes";
    const auto first = twin_.begin() + static_cast<std::ptrdiff_t>(opened.base.index.value());
    EXPECT_EQ(opened.entries, std::vector<raft::Entry>(first, twin_.end())) << where;
  }
  std::vector<std::string> segments() const { return segment_names(image_); }
  // Every image with one block of eight flipped bytes somewhere, `stride` apart, where there is anything to flip.
  template <typename Body>
  void for_every_rot(size_t stride, Body body) {
    for (const std::string& name : segments()) {
      const size_t size = image_[name].size();
      for (size_t at = 0; at < size; at += stride) {
        Image rotten = image_;
        std::string& bytes = rotten[name];
        if (bytes.find_first_not_of('\0', at) >= at + stride) continue;
        for (size_t i = at; i < std::min(at + 8, size); ++i) bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
        body(rotten, name + " at " + std::to_string(at));
      }
    }
  }

  uint64_t level_ = 0;  // of the cluster
  Image image_;
  std::vector<raft::Entry> twin_;
};

// The start replaces the newest segment.
// Covers: FLT_D06
TEST_F(RepairTest, AScrubWritesEachSpoiledCopyOfAHeaderAgain) {
  const auto scrub = [](log::OpenedLog& opened) {
    std::vector<std::string> found;
    for (LogScrub part{.next = Index(1)}; part.next;) {
      part = opened.log->scrub(part.next, 2'000);
      EXPECT_FALSE(part.first_bad);
      if (!part.why.ok()) found.emplace_back(sentence_of(part.why));
    }
    return found;
  };
  size_t tried = 0;
  for (const std::string& name : segments()) {
    for (const size_t at : {0, 8, 40, 100, 4096, 4096 + 8, 4096 + 40, 4096 + 100}) {
      Image rotten = image_;
      rotten[name][at] ^= 1;
      RecordingFs disk(rotten);
      log::OpenedLog opened = open(disk);
      if (!disk.now().names.contains(name)) continue;
      ++tried;
      EXPECT_THAT(scrub(opened), ::testing::ElementsAre("one of the two copies of the header of " + name +
                                                        " did not verify; it is written again"));
      Image mended = disk.now();
      EXPECT_EQ(mended[name], image_[name]) << name << " at " << at;
      EXPECT_THAT(scrub(opened), ::testing::IsEmpty());
      expect_whole(opened, name);
    }
  }
  EXPECT_GE(tried, 8U);
}

// Covers: FLT_D06
TEST_F(RepairTest, AHeaderThatCannotBeWrittenAgainIsReportedAndTriedAgain) {
  const std::string oldest = segments().front();
  Image rotten = image_;
  rotten[oldest][40] ^= 1;
  RecordingFs disk(rotten);
  log::OpenedLog opened = open(disk);
  disk.fail_calls("pwrite", absl::DataLossError("EIO"));
  const LogScrub failed = opened.log->scrub(Index(1), 1 << 20);
  EXPECT_EQ(sentence_of(failed.why), "one of the two copies of the header of " + oldest +
                                         " did not verify; the next scrub writes it again, for now: EIO");
  EXPECT_TRUE(opened.log->failure().ok());
  disk.fail_calls("", absl::OkStatus());
  EXPECT_FALSE(opened.log->scrub(Index(1), 1 << 20).why.ok());
  EXPECT_TRUE(opened.log->scrub(Index(1), 1 << 20).why.ok());
}

// Entries that have records of their own, and entries in runs.
class AnyFormRepairTest : public RepairTest, public ::testing::WithParamInterface<uint64_t> {
 protected:
  void SetUp() override {
    level_ = GetParam();
    RepairTest::SetUp();
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, AnyFormRepairTest, ::testing::Values(0, log::kSecondFormatLevel));

TEST_F(RepairTest, WhatACheckpointHasComesWithoutPayloadsAndIsReadWhole) {
  for (const uint64_t checkpointed : {uint64_t{0}, uint64_t{5}, kEntries / 2, kEntries}) {
    RecordingFs disk(image_);
    log::LogOptions options = small_segments();
    options.checkpointed = Index(checkpointed);
    auto opened = log::Log::open(disk, options);
    ASSERT_TRUE(opened.ok());
    ASSERT_EQ(opened->entries.size(), twin_.size());
    size_t left_out = 0;
    for (size_t i = 0; i < twin_.size(); ++i) {
      raft::Entry expected = twin_[i];
      const bool without = opened->entries[i].payload.empty();
      if (without) expected.payload = {};
      EXPECT_EQ(opened->entries[i], expected);
      EXPECT_TRUE(!without || expected.index.value() <= checkpointed);
      left_out += without ? 1 : 0;
      const auto read = opened->log->read(twin_[i].index, twin_[i].index, 1);
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(read->at(0), twin_[i]);
    }
    EXPECT_EQ(left_out > 0, checkpointed > 0);
    EXPECT_LT(left_out, kEntries) << "the newest segment is taken as it is";
  }
}

// Covers: FLT_D02 FLT_D05 FLT_D06
TEST_P(AnyFormRepairTest, RotAnywhereIsRepairedFromATwin) {
  size_t repaired = 0;
  for_every_rot(88, [&](const Image& rotten, const std::string& where) {
    RecordingFs disk(rotten);
    auto opened = open(disk);
    if (opened.damaged.empty()) return;
    ++repaired;
    ASSERT_TRUE(repair(opened, intact(opened.damaged)).ok()) << where;
    const auto read = opened.log->read(opened.damaged[0].index, opened.damaged[0].index, 1);
    ASSERT_TRUE(read.ok()) << where << read.status();
    EXPECT_EQ(read->front(), intact(opened.damaged).front()) << where;
    Image image = disk.now();
    for (int opening = 0; opening < 3; ++opening) {  // with what was carried over, again and again
      RecordingFs again(image);
      auto whole = open(again);
      ASSERT_NO_FATAL_FAILURE(expect_whole(whole, where + ", opening " + std::to_string(opening)));
      close(whole);
      image = again.now();
    }
  });
  EXPECT_GT(repaired, 50u);
}

// A payload that rots leaves its header, and the next batch repeats the identities of the previous one.
// Covers: FLT_D02
TEST_F(RepairTest, IdentitiesOfRottenEntriesAreKnown) {
  size_t known = 0;
  size_t holes = 0;
  for_every_rot(88, [&](const Image& rotten, const std::string& where) {
    RecordingFs disk(rotten);
    for (const DamagedEntry& damaged : open(disk).damaged) {
      const raft::Entry& lost = twin_[damaged.index.value() - 1];
      ++holes;
      if (damaged.content_sum == 0) continue;
      ++known;
      EXPECT_EQ(damaged, (DamagedEntry{lost.index, lost.term, lost.content_sum})) << where;
    }
  });
  EXPECT_GT(holes, 15u);
  EXPECT_GT(known * 4, holes * 3) << known << " of " << holes;
}

// Covers: FLT_D16
TEST_F(RepairTest, ACrashInARepairLeavesTheHolesOrTheEntries) {
  Image rotten = image_;
  for (const std::string& name : {segments()[0], segments()[1]}) {
    std::string& bytes = rotten[name];
    std::fill_n(bytes.begin() + log::kFirstBatchOffset, 2 * log::kBlockBytes, 'x');
  }
  RecordingFs disk(rotten);
  auto opened = open(disk);
  const std::vector<DamagedEntry> damaged = opened.damaged;
  ASSERT_GE(damaged.size(), 6u);
  const size_t start = disk.changes().size();
  for (const raft::Entry& entry : intact(damaged)) ASSERT_TRUE(repair(opened, {entry}).ok());
  close(opened);
  {
    RecordingFs again(disk.now());
    auto reopened = open(again);
    ASSERT_NO_FATAL_FAILURE(expect_whole(reopened, "at the end"));
  }
  size_t holes = damaged.size();
  for_each_crash(disk, 3, 3, 3, [&](size_t count, const Image& image) {
    if (::testing::Test::HasFailure()) return;
    RecordingFs after(image);
    auto reopened = open(after);
    EXPECT_LE(reopened.damaged.size(), damaged.size()) << count;
    if (count < start) {
      EXPECT_EQ(reopened.damaged.size(), damaged.size()) << count;
    }
    holes = std::min(holes, reopened.damaged.size());
    ASSERT_TRUE(repair(reopened, intact(reopened.damaged)).ok());
    RecordingFs again(after.now());
    auto whole = open(again);
    ASSERT_NO_FATAL_FAILURE(expect_whole(whole, "crash after " + std::to_string(count)));
  });
  EXPECT_EQ(holes, 0u);
}

// Rot, repair, appends, truncations, compaction, restarts, in any order, beside a model.
// Covers: FLT_D06 INV_S01
TEST_P(AnyFormRepairTest, RandomRotRepairAndWorkAgreeWithATwin) {
  Random random(5);
  for (int round = 0; round < 40; ++round) {
    Image image = image_;
    std::vector<raft::Entry> twin = twin_;
    bool whole = true;
    for (int boot = 0; boot < 6; ++boot) {
      RecordingFs disk(image);
      auto opened = open(disk);
      ASSERT_EQ(opened.base.index + opened.entries.size() + opened.damaged.size(), Index(twin.size())) << round << " " << boot;
      for (const raft::Entry& entry : opened.entries) ASSERT_EQ(entry, twin[entry.index.value() - 1]);
      ASSERT_TRUE(!whole || opened.damaged.empty()) << "damage that was not done, round " << round << " " << boot;
      std::vector<raft::Entry> with;
      for (const DamagedEntry& damaged : opened.damaged) {
        const raft::Entry& lost = twin[damaged.index.value() - 1];
        ASSERT_TRUE(damaged.content_sum == 0 || damaged.content_sum == lost.content_sum);
        with.push_back(lost);
      }
      const bool compacts = random.chance(0.5);
      whole = whole || random.chance(0.8);
      if (whole) {
        ASSERT_TRUE(repair(opened, with).ok());
      }
      for (int work = 0; work < 3; ++work) {
        LogWrite step{.feature_level = level_};
        Index last(twin.size());
        const Index base = opened.log->state().base.index;
        if (random.chance(0.3)) {
          last = Index(random.between(std::max(base.value(), last.value() - 3), last.value()));
          step.truncate_after = last;
          twin.resize(last.value());
        }
        const uint64_t term = 10 + static_cast<uint64_t>(round * 100 + boot * 10 + work);
        step.entries = entries(last.value() + 1, random.between(1, 3), term, 300);
        twin.insert(twin.end(), step.entries.begin(), step.entries.end());
        ASSERT_TRUE(opened.log->append({&step, 1}).ok());
        ASSERT_TRUE(opened.log->sync().ok());
        if (compacts && work == 1) {
          const Index through(random.between(base.value(), twin.size() - 3));
          if (through > base) {
            ASSERT_TRUE(opened.log->compact(twin[through.value() - 1].position()).ok());
          }
        }
      }
      if (random.chance(0.5)) {
        ASSERT_TRUE(repair(opened, with).ok()) << "what is not damaged any more is passed over";
        whole = true;
      }
      close(opened);
      image = disk.now();
      const std::vector<std::string> names = segment_names(image);
      if (names.size() < 2 || !random.chance(0.7)) continue;
      whole = false;
      std::string& bytes = image[names[random.below(names.size() - 1)]];  // not the newest: it holds the highest mark
      for (uint64_t flips = random.between(1, 4); flips > 0; --flips) {
        const size_t at = log::kFirstBatchOffset + random.below(bytes.size() - log::kFirstBatchOffset);
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min<size_t>(600, bytes.size() - at), 'x');
      }
    }
  }
}

// The repaired entry lies in a newer segment than those after it, which must not be recycled before it.
// Covers: FLT_D06
TEST_F(RepairTest, CompactionUpToARepairedEntryKeepsWhatFollows) {
  for (uint64_t front = 2; front + 2 < kEntries; ++front) {
    Image rotten = image_;
    for (auto& [file, bytes] : rotten.files) {
      const size_t at = bytes.find(twin_[front - 1].payload.view());
      if (at != std::string::npos) bytes[at] ^= 1;
    }
    RecordingFs disk(rotten);
    auto opened = open(disk);
    ASSERT_FALSE(opened.damaged.empty());
    ASSERT_TRUE(repair(opened, intact(opened.damaged)).ok());
    ASSERT_TRUE(opened.log->compact(twin_[front - 2].position()).ok());
    close(opened);
    Image image = disk.now();
    for (int opening = 0; opening < 3; ++opening) {
      RecordingFs again(image);
      auto reopened = open(again);
      ASSERT_NO_FATAL_FAILURE(expect_whole(reopened, "front " + std::to_string(front)));
      const auto read = reopened.log->read(Index(front), Index(kEntries), 1 << 20);
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(*read, reopened.entries);
      close(reopened);
      image = again.now();
    }
  }
}

// Covers: REG_R32
TEST_F(RepairTest, ARepairThatIsNotTheLostEntryIsRefused) {
  for (int flaw = 0; flaw < 3; ++flaw) {
    Image rotten = image_;
    std::string& bytes = rotten[segments().front()];
    bytes[bytes.find(twin_[1].payload.view())] ^= 1;
    RecordingFs disk(rotten);
    auto opened = open(disk);
    ASSERT_EQ(opened.damaged.size(), 1u);
    std::vector<raft::Entry> with = intact(opened.damaged);
    if (flaw == 0) with = entries(2, 1, 7, 300);
    if (flaw == 1) with = entries(2, 1, 1, 301);
    if (flaw == 2) with[0].payload = SharedBytes("not what was summed");
    const size_t changes = disk.changes().size();
    EXPECT_FALSE(repair(opened, with).ok()) << flaw;
    EXPECT_EQ(disk.changes().size(), changes);
  }
}

TEST_F(RepairTest, ARepairOfWhatIsIntactOrTruncatedChangesNothing) {
  Image rotten = image_;
  std::string& bytes = rotten[segments().front()];
  std::fill_n(bytes.begin() + log::kFirstBatchOffset, log::kBlockBytes, 'x');
  RecordingFs disk(rotten);
  auto opened = open(disk);
  ASSERT_EQ(opened.damaged.size(), 2u);
  const std::vector<LogWrite> steps = {{.truncate_after = Index(1), .entries = entries(2, 1, 9)}, {.repairs = twin_}};
  ASSERT_TRUE(opened.log->append(steps).ok());
  ASSERT_TRUE(opened.log->sync().ok());
  RecordingFs again(disk.now());
  const auto reopened = open(again);
  EXPECT_TRUE(reopened.damaged.empty());
  EXPECT_EQ(reopened.entries, (std::vector<raft::Entry>{twin_[0], entries(2, 1, 9)[0]}));
}

// An entry that an open carried over is as safe as those from before it: no bad block can cut it.
// Covers: FLT_D02
TEST_F(RepairTest, RotInWhatAnOpenCarriedOverIsAHole) {
  RecordingFs disk(image_);
  {
    auto opened = open(disk);
    LogWrite step{.entries = entries(kEntries + 1, 3, 9, 300)};
    ASSERT_TRUE(opened.log->append({&step, 1}).ok());
    ASSERT_TRUE(opened.log->sync().ok());
    twin_.insert(twin_.end(), step.entries.begin(), step.entries.end());
  }
  open(disk);
  image_ = disk.now();
  const std::string newest = segments().back();
  size_t holes = 0;
  for (size_t block = 0; block < image_[newest].size(); block += log::kBlockBytes) {
    Image rotten = image_;
    std::string& bytes = rotten[newest];
    for (size_t i = block; i < block + log::kBlockBytes; ++i) bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
    for (int opening = 0; opening < 3; ++opening) {
      RecordingFs again(rotten);
      auto opened = open(again);
      ASSERT_EQ(opened.entries.size() + opened.damaged.size(), twin_.size()) << "block " << block / log::kBlockBytes;
      holes += opened.damaged.size();
      for (const DamagedEntry& damaged : opened.damaged) {
        const raft::Entry& lost = twin_[damaged.index.value() - 1];
        EXPECT_EQ(damaged, (DamagedEntry{lost.index, lost.term, lost.content_sum})) << opening;
      }
      rotten = again.now();
    }
  }
  EXPECT_GE(holes, 9u);
}

}  // namespace
}  // namespace coordkit::testkit

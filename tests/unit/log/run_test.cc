// Runs, and the segments of version 2 that they lie in.
#include "log/run.h"

#include <gtest/gtest.h>

#include "coordkit/raft/content_sum.h"
#include "log/segment.h"
#include "tests/unit/log/log_workload.h"

namespace coordkit::testkit {
namespace {

using log::Record;
using log::RecordKind;

constexpr log::RecordKey kKey{StoreId(42), 7};
constexpr uint32_t kOffset = log::kFirstBatchOffset;

// A segment of these steps, each a batch, in that format.
struct Written {
  explicit Written(std::vector<LogWrite> steps, uint32_t format = 2) : bytes(kOffset, '\0') {
    std::vector<log::Identity> previous;
    for (const LogWrite& step : steps) {
      const log::BatchPlace place{
          .key = kKey, .group = kOnlyGroup, .offset = static_cast<uint32_t>(bytes.size()), .format = format};
      bytes += log::encode_batch(place, {}, previous, {&step, 1}, placed);
      previous.clear();
      for (const raft::Entry& entry : step.entries) previous.push_back({entry.index, entry.term, entry.content_sum});
    }
  }
  std::vector<Record> entries() const { return entries_in(bytes); }
  static std::vector<Record> entries_in(std::string_view segment) {
    std::vector<Record> found = log::find_records(segment, kOffset, segment.size(), kKey);
    std::erase_if(found, [](const Record& record) { return record.kind != RecordKind::Entry; });
    return found;
  }
  std::string bytes;
  std::vector<log::Placed> placed;
};

void expect_same(const std::vector<Record>& found, const std::vector<raft::Entry>& written) {
  ASSERT_EQ(found.size(), written.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(found[i].payload_intact);
    EXPECT_EQ(log::entry_of(found[i]), written[i]);
  }
}

std::vector<raft::Entry> joined(std::vector<raft::Entry> first, const std::vector<raft::Entry>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(RunTest, TheEntriesOfAWriteShareARecord) {
  const std::vector<raft::Entry> written = entries(9, 64, 3, 40);
  const Written runs({{.entries = written}});
  const Written single({{.entries = written}}, 1);
  expect_same(runs.entries(), written);
  expect_same(single.entries(), written);
  EXPECT_EQ(single.bytes.size(), kOffset + 2 * log::kBlockBytes);
  EXPECT_EQ(runs.bytes.size(), kOffset + log::kBlockBytes);
  for (const log::Placed& placed : runs.placed) EXPECT_EQ(placed.offset, runs.placed.front().offset);
}

TEST(RunTest, ARunIsOfOneTermWithoutAGapAndEndsWhereReadingOneEntryWouldReadTooMuch) {
  const std::vector<raft::Entry> terms = joined(entries(1, 2, 3), entries(3, 2, 4));
  EXPECT_EQ(log::run_length(terms), 2u);
  const std::vector<raft::Entry> gap = joined(entries(1, 3, 3), entries(5, 2, 3));  // what an open carries over around a repair
  EXPECT_EQ(log::run_length(gap), 3u);
  expect_same(Written({{.entries = gap}}).entries(), gap);
  expect_same(Written({{.entries = terms}}).entries(), terms);
  const std::vector<raft::Entry> large = entries(1, 5, 3, log::kRunPayloadsMax / 2);
  EXPECT_EQ(log::run_length(large), 2u);
  expect_same(Written({{.entries = large}}).entries(), large);
  const std::vector<raft::Entry> larger = entries(1, 2, 3, log::kRunPayloadsMax + 1);
  EXPECT_EQ(log::run_length(larger), 1u);
  expect_same(Written({{.entries = larger}}).entries(), larger);
  const std::vector<raft::Entry> empty = entries(1, 3, 3, 0);
  expect_same(Written({{.entries = empty}}).entries(), empty);
}

// Entries of term 3, from index 9 on.
std::vector<raft::Entry> with_payloads(const std::vector<std::string>& payloads) {
  std::vector<raft::Entry> made = entries(9, payloads.size(), 3);
  for (size_t i = 0; i < made.size(); ++i) {
    made[i].payload = SharedBytes(payloads[i]);
    made[i].content_sum = content_sum(kOnlyGroup, made[i].term, made[i].index, made[i].kind, made[i].payload.view());
  }
  return made;
}

TEST(RunTest, WhatAllPayloadsHaveNearTheirBeginningIsThereOnce) {
  const std::string mine(40, 'm');
  std::vector<std::string> commands;
  for (int i = 0; i < 64; ++i) commands.push_back(std::to_string(10 + i) + mine + std::to_string(100 + i));
  const Written written({{.entries = with_payloads(commands)}});
  expect_same(written.entries(), with_payloads(commands));
  EXPECT_EQ(written.bytes.find(mine), written.bytes.rfind(mine));
  EXPECT_EQ(written.bytes.size(), kOffset + log::kBlockBytes);
  for (const std::vector<std::string>& others : std::vector<std::vector<std::string>>{{mine, mine},
                                                                                      {mine, mine + "x", mine},
                                                                                      {mine + "x", mine},
                                                                                      {"", mine, mine},
                                                                                      {mine, "other"},
                                                                                      {"", ""},
                                                                                      {"1" + mine + "x", "2" + mine},
                                                                                      {"123" + mine, "456" + mine + "y"},
                                                                                      {"1234" + mine, "5678" + mine},
                                                                                      {"12", "1", "124"},
                                                                                      {"abcabc", "abc"}}) {
    expect_same(Written({{.entries = with_payloads(others)}}).entries(), with_payloads(others));
  }
}

// Covers: REG_R32 FLT_D05
TEST(RunTest, AFlippedBitOfAPayloadCostsItsEntryAndOneBeforeItTheRun) {
  const std::string mine(20, 'm');
  const Written good({{.entries = with_payloads({mine + std::string(24, 'a'), mine + std::string(24, 'b'),
                                                 mine + std::string(24, 'c'), mine + std::string(24, 'd')})}});
  const size_t run = good.placed.front().offset;
  const size_t payloads = good.bytes.find(std::string(24, 'a'));
  const auto payload_of = [&](size_t at) { return (at - payloads) / 24; };
  for (size_t bit = run * 8; bit < (payloads + size_t{4} * 24) * 8; ++bit) {
    std::string bytes = good.bytes;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    const std::vector<Record> found = Written::entries_in(bytes);
    if (bit / 8 < payloads) {
      ASSERT_TRUE(found.empty()) << "byte " << bit / 8 - run;
      continue;
    }
    ASSERT_EQ(found.size(), 4u);
    for (size_t i = 0; i < 4; ++i) ASSERT_EQ(found[i].payload_intact, i != payload_of(bit / 8)) << i;
  }
}

// Its sums may be right and its table still nonsense: another program made it.
TEST(RunTest, HostileTablesAreNeverReadBeyondTheirRecord) {
  const std::string mine(20, 'm');
  const std::vector<raft::Entry> written = with_payloads({mine + "one", mine + "another", mine});
  std::string payload;
  const Record good = log::run_record(written, payload);
  Random random(5);
  for (int round = 0; round < 2'000; ++round) {
    std::string bad = payload.substr(0, random.below(payload.size() + 1));
    for (uint64_t i = random.below(4); i > 0 && !bad.empty(); --i) bad[random.below(bad.size())] = static_cast<char>(random());
    Record record = good;
    record.payload = bad;
    std::string bytes(64, '\0');
    log::append_record(bytes, record, kKey, 64);
    const std::optional<Record> parsed = log::parse_record(bytes, 64, kKey);
    ASSERT_TRUE(parsed);
    std::vector<Record> found;
    log::append_entries(*parsed, found);
    size_t bytes_seen = found.empty() ? 0 : found.front().shared.size();
    for (const Record& entry : found) bytes_seen += entry.payload.size();
    ASSERT_LE(bytes_seen, bad.size());
    for (const Record& entry : found) {
      if (!entry.payload_intact) continue;
      ASSERT_EQ(log::entry_of(entry), written.at(entry.index - Index(9)));
    }
  }
}

TEST(RunTest, AMarkNamesTheEntriesBeforeItInRunsWhereThatIsShorter) {
  const auto identities = [](const std::vector<raft::Entry>& of) {
    std::vector<log::Identity> all;
    for (const raft::Entry& entry : of) all.push_back({entry.index, entry.term, entry.content_sum});
    return all;
  };
  for (const auto& previous : {identities(entries(5, 64, 3)), identities(joined(entries(5, 9, 3), entries(14, 2, 4))),
                               identities(entries(5, 1, 3)), identities({})}) {
    const log::Mark mark{.batch_bytes = 4096, .records = 3, .previous = previous};
    const std::string each = log::encode(mark, 1), runs = log::encode(mark, 2);
    EXPECT_EQ(log::decode_mark(each)->previous, previous);
    EXPECT_EQ(log::decode_mark(runs)->previous, previous);
    EXPECT_LE(runs.size(), each.size());
    EXPECT_EQ(runs.size() < each.size(), previous.size() > 1);
    for (size_t size = 0; size < runs.size(); ++size) EXPECT_FALSE(log::decode_mark(std::string_view(runs).substr(0, size)));
    for (const size_t at : {8u, 11u, 12u, 104u, 107u}) {  // how many, in which form, how many in the first run
      if (at > 12 && runs[12] == 0) continue;
      std::string more = runs;
      more[at] = '\x7f';
      EXPECT_FALSE(log::decode_mark(more)) << at;
    }
  }
}

// ---- a log that may write them

log::LogOptions two_segments() { return {.store = kStore, .segment_bytes = 64 << 10, .small_segment_bytes = 64 << 10}; }

uint32_t version_of(const Image& image, const std::string& name) {
  return static_cast<uint8_t>(image.files.at(image.names.at(name))[8]);
}

// Batches of ten entries, up to `last`.
void write_up_to(log::Log& log, uint64_t last, uint64_t level) {
  for (uint64_t first = log.state().last.index.value() + 1; first <= last; first += 10) {
    const LogWrite step{.entries = entries(first, 10, 1, 300), .feature_level = level};
    ASSERT_TRUE(log.append({&step, 1}).ok());
    ASSERT_TRUE(log.sync().ok());
  }
}

TEST(RunLogTest, SegmentsAreOfVersionTwoOnceTheClusterIsAtItsLevelAndStaySo) {
  RecordingFs disk;
  auto opened = log::Log::open(disk, two_segments());
  ASSERT_TRUE(opened.ok());
  write_up_to(*opened->log, 400, log::kSecondFormatLevel - 1);
  const std::vector<std::string> before = segment_names(disk.now());
  ASSERT_GE(before.size(), 2u);
  for (const std::string& name : before) EXPECT_EQ(version_of(disk.now(), name), 1u) << name;
  write_up_to(*opened->log, 800, log::kSecondFormatLevel);
  const std::vector<std::string> after = segment_names(disk.now());
  ASSERT_GT(after.size(), before.size());
  for (const std::string& name : after) {
    EXPECT_EQ(version_of(disk.now(), name), name <= before.back() ? 1u : 2u) << name;
  }
  RecordingFs again(disk.now());
  auto reopened = log::Log::open(again, two_segments());
  ASSERT_TRUE(reopened.ok()) << reopened.status();
  EXPECT_EQ(reopened->entries, entries(1, 800, 1, 300));
  EXPECT_EQ(version_of(again.now(), segment_names(again.now()).back()), 2u) << "whoever reads the others reads this one";
}

// Builds before level 3 look for this in both copies of the header, so that they say NewerFormat and touch nothing.
// Covers: FLT_D14
TEST(RunLogTest, AHeaderOfVersionTwoIsNoneWhereVersionOneHasIts) {
  const std::string two = encode(log::SegmentHeader{.segment = 7, .format = 2, .store = StoreId(42)}, kOnlyGroup);
  const std::string one = encode(log::SegmentHeader{.segment = 7, .format = 1, .store = StoreId(42)}, kOnlyGroup);
  for (const size_t block : {size_t{0}, log::kBlockBytes}) {
    EXPECT_TRUE(log::parse_record(one, block + 16, kKey));
    EXPECT_FALSE(log::parse_record(two, block + 16, kKey));
    EXPECT_EQ(two.substr(block, 8), "coordlog");
    EXPECT_EQ(two[block + 8], 2);
  }
  EXPECT_EQ(log::find_header(two, kKey).header->format, 2u);
  EXPECT_EQ(log::find_header(one, kKey).header->format, 1u);
  std::string half = two;
  half[24 + 3] ^= 1;
  EXPECT_EQ(log::find_header(half, kKey).header->format, 2u) << "one copy is enough";
}

class RunReadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = log::Log::open(disk_, two_segments());
    ASSERT_TRUE(opened.ok());
    log_ = std::move(opened->log);
    write_up_to(*log_, 600, log::kSecondFormatLevel);
    ASSERT_EQ(version_of(disk_.now(), segment_names(disk_.now()).back()), 2u);
  }
  void flip(uint64_t index) {
    const auto place = log_->place(Index(index));
    ASSERT_TRUE(place);
    std::string byte = *disk_.open(log::file_name(log::FileUse::Segment, place->at.segment), OpenMode::Read)
                            .value()
                            ->pread(place->at.offset, 1);
    byte[0] ^= 1;
    ASSERT_TRUE(disk_.open(log::file_name(log::FileUse::Segment, place->at.segment), OpenMode::ReadWrite)
                    .value()
                    ->pwrite(place->at.offset, byte)
                    .ok());
  }
  RecordingFs disk_;
  std::unique_ptr<log::Log> log_;
};

TEST_F(RunReadTest, AnyStretchIsReadAsItWasWritten) {
  const std::vector<raft::Entry> all = entries(1, 600, 1, 300);
  for (uint64_t first = 1; first <= 600; first += 7) {
    const auto read = log_->read(Index(first), Index(first + 24), 1 << 20);
    ASSERT_TRUE(read.ok()) << read.status();
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first) - 1;
    EXPECT_EQ(*read, std::vector(begin, begin + static_cast<std::ptrdiff_t>(read->size())));
    EXPECT_EQ(read->size(), std::min<uint64_t>(25, 601 - first));
  }
  EXPECT_EQ(log_->read(Index(591), Index(600), 900)->size(), 2u) << "of ten entries in one record";
  EXPECT_EQ(log_->read(Index(591), Index(600), 1)->size(), 1u);
}

// Covers: FLT_D05
TEST_F(RunReadTest, OneRottenEntryIsOneEntryThatIsNotServed) {
  ASSERT_NO_FATAL_FAILURE(flip(595));
  EXPECT_TRUE(log_->read(Index(591), Index(594), 1 << 20).ok());
  EXPECT_TRUE(absl::IsDataLoss(log_->read(Index(591), Index(600), 1 << 20).status()));
  EXPECT_TRUE(log_->read(Index(596), Index(600), 1 << 20).ok());
  const LogScrub scrub = log_->scrub(Index(1), 1 << 20);
  EXPECT_EQ(scrub.first_bad, Index(595));
  EXPECT_EQ(scrub.last_bad, Index(595));
  const size_t headers = segment_names(disk_.now()).size() * log::kFirstBatchOffset;
  EXPECT_LT(scrub.bytes, 600 * (300 + 64) + headers) << "each record is read once";
}

// Covers: FLT_D02
TEST_F(RunReadTest, AHoleInARunIsRepairedAndReadAgain) {
  ASSERT_NO_FATAL_FAILURE(flip(595));
  ASSERT_TRUE(log_->append_mark().ok());
  ASSERT_TRUE(log_->sync().ok());
  RecordingFs again(disk_.now());
  auto opened = log::Log::open(again, two_segments());
  ASSERT_TRUE(opened.ok()) << opened.status();
  const raft::Entry lost = entries(595, 1, 1, 300).front();
  ASSERT_EQ(opened->damaged, (std::vector<DamagedEntry>{{Index(595), Term(1), lost.content_sum}}));
  const LogWrite repair{.repairs = {lost}, .feature_level = log::kSecondFormatLevel};
  ASSERT_TRUE(opened->log->append({&repair, 1}).ok());
  ASSERT_TRUE(opened->log->sync().ok());
  EXPECT_EQ(*opened->log->read(Index(590), Index(600), 1 << 20), entries(590, 11, 1, 300));
  Image image = again.now();
  for (int open = 0; open < 3; ++open) {  // each carries entries over, and the repaired one apart from those around it
    RecordingFs next(image);
    const auto reopened = log::Log::open(next, two_segments());
    ASSERT_TRUE(reopened.ok()) << reopened.status();
    EXPECT_TRUE(reopened->damaged.empty());
    EXPECT_EQ(reopened->entries, entries(1, 600, 1, 300)) << open;
    EXPECT_EQ(*reopened->log->read(Index(590), Index(600), 1 << 20), entries(590, 11, 1, 300));
    image = next.now();
  }
}

// The next mark names each entry of a run whose table is lost.
// Covers: FLT_D02
TEST_F(RunReadTest, ARottenTableIsHolesOfKnownEntries) {
  Image image = disk_.now();
  std::string& bytes = image[segment_names(image).back()];
  const size_t payload = bytes.rfind(entries(591, 1, 1, 300).front().payload.view());
  ASSERT_NE(payload, std::string::npos);
  bytes[payload - 1] ^= 1;
  RecordingFs torn(image);
  auto opened = log::Log::open(torn, two_segments());
  ASSERT_TRUE(opened.ok()) << "the last batch, and no mark after it: a torn tail";
  EXPECT_EQ(opened->log->state().last.index, Index(590));

  ASSERT_TRUE(log_->append_mark().ok());
  ASSERT_TRUE(log_->sync().ok());
  image = disk_.now();
  std::string& marked = image[segment_names(image).back()];
  marked[payload - 1] ^= 1;
  RecordingFs again(image);
  opened = log::Log::open(again, two_segments());
  ASSERT_TRUE(opened.ok()) << opened.status();
  std::vector<DamagedEntry> lost;
  for (const raft::Entry& entry : entries(591, 10, 1, 300)) lost.push_back({entry.index, entry.term, entry.content_sum});
  EXPECT_EQ(opened->damaged, lost);
}

}  // namespace
}  // namespace coordkit::testkit

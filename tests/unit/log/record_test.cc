#include "log/record.h"

#include <gtest/gtest.h>

#include "base/sums.h"
#include "coordkit/testing/entries.h"
#include "log/batch.h"

namespace coordkit::log {
namespace {

constexpr RecordKey kKey{StoreId(42), 7};

Record entry_record(const raft::Entry& entry) {
  return {.kind = RecordKind::Entry,
          .detail = static_cast<uint8_t>(entry.kind),
          .group = kOnlyGroup,
          .term = entry.term,
          .index = entry.index,
          .mark = {3, 8192},
          .content_sum = entry.content_sum,
          .payload = entry.payload.view()};
}

std::string bytes_at(uint32_t offset, const Record& record) {
  std::string bytes(offset, '\0');
  append_record(bytes, record, kKey, offset);
  return bytes;
}

TEST(RecordTest, WhatIsAppendedIsParsed) {
  const raft::Entry entry = testkit::entries(9, 1, 3, 21).front();
  const std::string bytes = bytes_at(64, entry_record(entry));
  EXPECT_EQ(bytes.size() % kRecordAlignment, 0u);
  const auto record = parse_record(bytes, 64, kKey);
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->payload_intact);
  EXPECT_EQ(record->index, entry.index);
  EXPECT_EQ(record->term, entry.term);
  EXPECT_EQ(record->mark, (DiskPosition{3, 8192}));
  EXPECT_EQ(record->payload, entry.payload.view());
  EXPECT_EQ(record->bytes(), bytes.size() - 64);
}

// Covers: FLT_D09
TEST(RecordTest, ARecordInAnotherPlaceNeverVerifies) {
  const std::string bytes = bytes_at(64, entry_record(testkit::entries(9, 1, 3).front()));
  EXPECT_TRUE(parse_record(bytes, 64, kKey));
  EXPECT_FALSE(parse_record(bytes.substr(8), 56, kKey)) << "another offset";
  EXPECT_FALSE(parse_record(bytes, 64, {kKey.store, 8})) << "another segment";
  EXPECT_FALSE(parse_record(bytes, 64, {StoreId(43), kKey.segment})) << "another store";
}

// Covers: REG_R32 FLT_D05
TEST(RecordTest, EveryFlippedBitIsNoticed) {
  const std::string good = bytes_at(0, entry_record(testkit::entries(9, 1, 3, 40).front()));
  for (size_t bit = 0; bit < (kRecordHeaderBytes + 40) * 8; ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    const auto record = parse_record(bytes, 0, kKey);
    const bool header = bit < kRecordHeaderBytes * 8;
    ASSERT_EQ(!record, header) << "bit " << bit;
    ASSERT_TRUE(!record || !record->payload_intact) << "bit " << bit;
  }
}

// Covers: REG_R32
TEST(RecordTest, TheProposersSumIsKeptNeverRecomputed) {
  raft::Entry entry = testkit::entries(9, 1, 3).front();
  entry.content_sum ^= 1;
  const auto record = parse_record(bytes_at(0, entry_record(entry)), 0, kKey);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->content_sum, entry.content_sum);
  EXPECT_FALSE(record->payload_intact);
}

TEST(RecordTest, LengthsBeyondTheBytesAreRefused) {
  const std::string bytes = bytes_at(0, entry_record(testkit::entries(9, 1, 3, 500).front()));
  for (size_t size = 0; size < bytes.size() - kRecordAlignment; ++size) {
    ASSERT_FALSE(parse_record(std::string_view(bytes).substr(0, size), 0, kKey)) << size;
  }
}

TEST(MarkTest, HostilePayloadsAreRefused) {
  Mark mark{.batch_bytes = 4096, .records = 3, .previous = {{Index(1), Term(2), 3}}};
  const std::string good = encode(mark);
  ASSERT_TRUE(decode_mark(good));
  EXPECT_EQ(decode_mark(good)->previous, mark.previous);
  std::string more = good;
  more[11] = '\x7f';  // a count of two thousand million
  EXPECT_FALSE(decode_mark(more));
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(decode_mark(std::string_view(good).substr(0, size)));
}

TEST(BatchTest, HardStateLiesInTwoBlocks) {
  const LogWrite step{.hard_state = raft::HardState{Term(5), ReplicaId(2)}, .entries = testkit::entries(1, 2, 5)};
  std::vector<Placed> placed;
  const std::string bytes = encode_batch({.key = kKey, .group = kOnlyGroup, .offset = 8192}, {}, {}, {&step, 1}, placed);
  EXPECT_EQ(bytes.size() % kBlockBytes, 0u);
  std::string segment(8192, '\0');
  segment += bytes;
  std::vector<uint32_t> copies;
  for (const Record& record : find_records(segment, 8192, segment.size(), kKey)) {
    if (record.kind == RecordKind::HardState) copies.push_back(record.offset);
  }
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_NE(copies[0] / kBlockBytes, copies[1] / kBlockBytes);
}

}  // namespace
}  // namespace coordkit::log

// Fields in any order, with others between them, are read as the same message. They are written as protozero would write them,
// and read as protozero would read them, or refused as it would.
#include "base/field_io.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "base/fields.h"

namespace coordkit::codec {

struct Part {
  uint64_t number = 0;
  friend bool operator==(const Part&, const Part&) = default;
};
struct Whole {
  uint64_t number = 0;
  std::string text;
  Part part;
  std::vector<Part> parts;
  std::vector<uint64_t> numbers;
  uint64_t fixed = 0;
  uint64_t far = 0;  // its tag takes two bytes
  friend bool operator==(const Whole&, const Whole&) = default;
};

template <typename Io>
void describe(Io& io, Describes<Part> auto& part) {
  io.number(1, part.number);
}
template <typename Io>
void describe(Io& io, Describes<Whole> auto& whole) {
  io.number(1, whole.number);
  io.bytes(2, whole.text);
  io.message(3, whole.part);
  io.repeated(4, whole.parts, 100);
  io.numbers(5, whole.numbers);
  io.fixed(6, whole.fixed);
  io.number(20, whole.far);
}

// Messages within messages within a message.
struct Outer {
  uint64_t before = 0;
  Whole whole;
  std::vector<Outer> outers;
};
template <typename Io>
void describe(Io& io, Describes<Outer> auto& outer) {
  io.number(1, outer.before);
  io.message(2, outer.whole);
  io.repeated(3, outer.outers, 100);
}

namespace {

using protozero::pbf_writer;

Whole sample() {
  return {.number = 300,
          .text = std::string(200, 't'),
          .part = {7},
          .parts = {{1}, {0}, {3}},
          .numbers = {5, 0, 6},
          .fixed = 8,
          .far = 70'000};
}

// Each field by itself, as protozero writes it.
std::vector<std::string> fields_of(const Whole& whole) {
  std::vector<std::string> all;
  const auto add = [&all](auto write) {
    pbf_writer out(all.emplace_back());
    write(out);
  };
  const auto add_part = [&add](uint32_t field, const Part& part) {
    std::string inner;
    if (part.number != 0) pbf_writer(inner).add_uint64(1, part.number);
    add([&](pbf_writer& out) { out.add_message(field, inner); });
  };
  add([&](pbf_writer& out) { out.add_uint64(1, whole.number); });
  add([&](pbf_writer& out) { out.add_bytes(2, whole.text); });
  add_part(3, whole.part);
  for (const Part& part : whole.parts) add_part(4, part);
  for (const uint64_t number : whole.numbers) add([&](pbf_writer& out) { out.add_uint64(5, number); });
  add([&](pbf_writer& out) { out.add_fixed64(6, whole.fixed); });
  add([&](pbf_writer& out) { out.add_uint64(20, whole.far); });
  return all;
}

std::string joined(const std::vector<std::string>& all) {
  std::string bytes;
  for (const std::string& one : all) bytes += one;
  return bytes;
}

Whole read_back(const std::string& bytes) {
  Whole whole;
  read<SparseRules>(bytes, whole);
  return whole;
}

TEST(FieldIoTest, WritesWhatProtozeroWrites) {
  std::string bytes;
  append<SparseRules>(bytes, sample());
  EXPECT_EQ(bytes, joined(fields_of(sample())));
  EXPECT_EQ(read_back(bytes), sample());
}

TEST(FieldIoTest, AnyNumberOfNumbersInARowIsWritten) {
  Whole whole = sample();
  for (uint64_t i = 0; i < 500; ++i) whole.numbers.push_back(~uint64_t{0} >> (i % 64));
  for (uint64_t i = 0; i < 50; ++i) whole.parts.push_back({~uint64_t{0} >> i});
  std::string bytes = "what was there before";
  append<SparseRules>(bytes, whole);
  EXPECT_EQ(bytes, "what was there before" + joined(fields_of(whole)));
}

TEST(FieldIoTest, BytesOfAnyLengthAreWritten) {
  for (size_t length = 1; length < 300; ++length) {
    Whole whole = sample();
    whole.text.clear();
    for (size_t i = 0; i < length; ++i) whole.text += static_cast<char>(i);
    std::string bytes;
    append<SparseRules>(bytes, whole);
    EXPECT_EQ(bytes, joined(fields_of(whole))) << length;
  }
}

std::string by_pbf_writer(const Outer& outer) {
  std::string bytes;
  pbf_writer out(bytes);
  if (outer.before != 0) out.add_uint64(1, outer.before);
  if (outer.whole != Whole{}) out.add_message(2, joined(fields_of(outer.whole)));
  for (const Outer& inner : outer.outers) out.add_message(3, by_pbf_writer(inner));
  return bytes;
}

TEST(FieldIoTest, MessagesOfAnyLengthAreWrittenAtAnyPlaceAndEmptyOnesLeftOut) {
  for (size_t length = 1; length < 300; ++length) {
    for (const uint64_t before : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      Whole whole = sample();
      whole.text.resize(length, 't');
      if (length % 3 == 0) whole.parts.clear();
      const Outer empty;
      const Outer inner{.before = before, .whole = whole, .outers = {empty, empty}};
      const Outer outer{.before = before, .whole = {}, .outers = {empty, inner, empty, {before, {}, {inner}}}};
      std::string bytes;
      append<SparseRules>(bytes, outer);
      ASSERT_EQ(bytes, by_pbf_writer(outer)) << length;
    }
  }
}

TEST(FieldIoTest, FieldsComeInAnyOrder) {
  std::vector<std::string> all = fields_of(sample());
  std::ranges::reverse(all);
  Whole expected = sample();
  std::ranges::reverse(expected.parts);
  std::ranges::reverse(expected.numbers);
  EXPECT_EQ(read_back(joined(all)), expected);
  for (size_t turn = 0; turn < all.size(); ++turn) {  // those of a list keep their order only among themselves
    std::rotate(all.begin(), all.begin() + 1, all.end());
    const Whole read = read_back(joined(all));
    EXPECT_EQ(read.number, 300u);
    EXPECT_EQ(read.text, sample().text);
    EXPECT_EQ(read.part, sample().part);
    EXPECT_EQ(read.parts.size(), 3u);
    EXPECT_EQ(read.numbers.size(), 3u);
    EXPECT_EQ(read.fixed, 8u);
    EXPECT_EQ(read.far, 70'000u);
  }
}

TEST(FieldIoTest, UnknownFieldsAnywhereAreSkippedAndOfTwoTheLastCounts) {
  std::string unknown;
  pbf_writer(unknown).add_uint64(99, 1);
  pbf_writer(unknown).add_bytes(1, "another wire type");
  std::string bytes = unknown;
  for (const std::string& one : fields_of(sample())) bytes += one + unknown;
  EXPECT_EQ(read_back(bytes), sample());
  pbf_writer(bytes).add_uint64(1, 301);
  EXPECT_EQ(read_back(bytes).number, 301u);
}

TEST(FieldIoTest, AnEmptyMessageIsLeftOutAnEmptyElementIsNot) {
  std::string bytes;
  append<SparseRules>(bytes, Whole{.parts = {{}, {}}});
  EXPECT_EQ(bytes.size(), 4u);
  EXPECT_EQ(read_back(bytes).parts.size(), 2u);
}

TEST(FieldIoTest, AListBeyondItsLimitAndACutMessageAreRefused) {
  Whole large;
  large.parts.resize(101);
  EXPECT_THROW(read_back(joined(fields_of(large))), Malformed);
  const std::string bytes = joined(fields_of(sample()));
  EXPECT_THROW(read_back(bytes.substr(0, bytes.size() - 1)), protozero::exception);
}

// ---- hostile bytes

Part part_by_protozero(protozero::pbf_reader in, Part part) {
  while (in.next()) {
    if (in.tag_and_type() == fields::number(1)) {
      part.number = in.get_uint64();
    } else {
      in.skip();
    }
  }
  return part;
}

// nullopt: no such message.
std::optional<Whole> by_protozero(const std::string& bytes) try {
  Whole whole;
  protozero::pbf_reader in(bytes);
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): whole.number = in.get_uint64(); break;
      case fields::bytes(2): whole.text = in.get_string(); break;
      case fields::bytes(3): whole.part = part_by_protozero(in.get_message(), whole.part); break;
      case fields::bytes(4): whole.parts.push_back(part_by_protozero(in.get_message(), {})); break;
      case fields::number(5): whole.numbers.push_back(in.get_uint64()); break;
      case fields::fixed(6): whole.fixed = in.get_fixed64(); break;
      case fields::number(20): whole.far = in.get_uint64(); break;
      default: in.skip();
    }
  }
  return whole;
} catch (const protozero::exception&) {
  return std::nullopt;
}

std::optional<Whole> by_reader(const std::string& bytes) try { return read_back(bytes); } catch (const protozero::exception&) {
  return std::nullopt;
}

TEST(FieldIoTest, ATagInMoreBytesThanItNeedsIsTheSameTag) {
  const std::string bytes("\x88\x00\x05\xa0\x81\x00\x06", 7);  // field 1 in two bytes, field 20 in three
  ASSERT_TRUE(by_protozero(bytes));
  EXPECT_EQ(by_reader(bytes), (Whole{.number = 5, .far = 6}));
  EXPECT_EQ(by_reader(bytes), by_protozero(bytes));
}

TEST(FieldIoTest, HostileBytesReadAsProtozeroReadsThem) {
  std::mt19937 random(20);
  const auto draw = [&random](size_t below) { return random() % below; };
  size_t read = 0;
  size_t refused = 0;
  for (int run = 0; run < 30'000; ++run) {
    std::vector<std::string> all = fields_of(sample());
    std::ranges::shuffle(all, random);
    all.resize(1 + draw(all.size()));
    std::string bytes = joined(all);
    for (size_t changes = draw(4); changes > 0; --changes) {
      const size_t at = draw(bytes.size());
      switch (draw(4)) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes.insert(at, 1, static_cast<char>(random())); break;
        case 2: bytes.resize(at + 1); break;
        default: bytes[at] = static_cast<char>(bytes[at] | 0x80);  // a number that does not end
      }
    }
    const std::optional<Whole> expected = by_protozero(bytes);
    ASSERT_EQ(by_reader(bytes), expected) << "run " << run;
    ++(expected ? read : refused);
  }
  EXPECT_GT(read, 5'000u);
  EXPECT_GT(refused, 5'000u);
}

}  // namespace
}  // namespace coordkit::codec

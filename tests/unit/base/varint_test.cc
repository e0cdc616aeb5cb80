// Numbers are written as protozero would write them, and read as protozero would read them, or refused as it would.
#include "base/varint.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace coordkit::codec {
namespace {

struct Read {
  uint64_t number = 0;
  size_t bytes = 0;
  friend bool operator==(const Read&, const Read&) = default;
};

std::optional<Read> read(std::string_view bytes, uint64_t (*by)(const char**, const char*)) try {
  const char* at = bytes.data();
  const uint64_t number = by(&at, bytes.data() + bytes.size());
  return Read{number, static_cast<size_t>(at - bytes.data())};
} catch (const protozero::exception&) {
  return std::nullopt;
}

uint64_t ours(const char** at, const char* end) { return read_varint(at, end); }

// Numbers of every length that has bits to spare.
uint64_t random_number(std::mt19937_64& random) { return random() >> (random() % 64); }

TEST(VarintTest, IsWrittenAsByProtozeroAndReadBackWhateverFollows) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t number = random_number(random);
    char written[protozero::max_varint_length];
    char expected[protozero::max_varint_length];
    const auto size = static_cast<size_t>(write_varint(written, number) - written);
    ASSERT_EQ(size, static_cast<size_t>(protozero::add_varint_to_buffer(expected, number)));
    std::string bytes(written, size);
    ASSERT_EQ(bytes, std::string(expected, size));
    for (; bytes.size() < size + 10; bytes.push_back(static_cast<char>(random()))) {
      ASSERT_EQ(read(bytes, ours), (Read{number, size}));
    }
  }
}

TEST(VarintTest, AnyBytesAreReadAsByProtozeroOrRefused) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    std::string bytes(random() % 13, '\0');
    const size_t more = random() % 13;  // as many say that more follow
    for (size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<char>(random() | (at < more ? 0x80 : 0));
    ASSERT_EQ(read(bytes, ours), read(bytes, protozero::decode_varint));
  }
}

}  // namespace
}  // namespace coordkit::codec

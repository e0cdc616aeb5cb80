// Varints of the protobuf wire format. Nearly all numbers are either small or come from a counter with a large random base.
// The former take one byte, which is tested first. The latter take nine bytes, of which eight are read in one step.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <protozero/varint.hpp>

#include "base/fixed.h"

namespace coordkit::codec {

inline constexpr uint64_t kMoreFollow = 0x8080808080808080;  // the bit that says so, in each of eight bytes

// The low seven bits of each byte, next to each other.
constexpr uint64_t joined_sevens(uint64_t bytes) {
  bytes = (bytes & 0x007f007f007f007f) | ((bytes & 0x7f007f007f007f00) >> 1);
  bytes = (bytes & 0x00003fff00003fff) | ((bytes & 0x3fff00003fff0000) >> 2);
  return (bytes & 0x000000000fffffff) | ((bytes & 0x0fffffff00000000) >> 4);
}
// The reverse, for the low 56 bits.
constexpr uint64_t split_in_sevens(uint64_t number) {
  number = (number & 0x000000000fffffff) | ((number & 0x00fffffff0000000) << 4);
  number = (number & 0x00003fff00003fff) | ((number & 0x0fffc0000fffc000) << 2);
  return (number & 0x007f007f007f007f) | ((number & 0x3f803f803f803f80) << 1);
}

// Reads a varint of up to nine bytes. protozero reads those that are longer, malformed or close to the end, and throws if
// they are invalid.
[[gnu::noinline]] inline uint64_t read_long_varint(const char** at, const char* end) {
  if (end - *at <= 8) return protozero::decode_varint(at, end);
  const uint64_t bytes = load_u64(*at);
  const uint64_t last = ~bytes & kMoreFollow;
  if (last != 0) {
    *at += std::countr_zero(last) / 8 + 1;
    return joined_sevens(bytes & (last ^ (last - 1)));
  }
  const auto ninth = static_cast<uint8_t>((*at)[8]);
  if (ninth >= 0x80) return protozero::decode_varint(at, end);
  *at += 9;
  return joined_sevens(bytes) | (uint64_t{ninth} << 56);
}

// Moves `at` behind the varint. Throws a protozero::exception if there is none.
[[gnu::always_inline]] inline uint64_t read_varint(const char** at, const char* end) {
  if (*at != end && static_cast<uint8_t>(**at) < 0x80) return static_cast<uint8_t>(*(*at)++);
  return read_long_varint(at, end);
}

[[gnu::noinline]] inline char* write_long_varint(char* to, uint64_t number) {
  if (number >> 63 != 0) return to + protozero::add_varint_to_buffer(to, number);
  const size_t size = (static_cast<size_t>(std::bit_width(number)) + 6) / 7;
  store_u64(to, split_in_sevens(number) | (kMoreFollow >> (8 * (9 - size))));
  if (size == 9) to[8] = static_cast<char>(number >> 56);
  return to + size;
}

// Returns its end. All of protozero::max_varint_length bytes may be overwritten.
[[gnu::always_inline]] inline char* write_varint(char* to, uint64_t number) {
  if (number >= 0x80) return write_long_varint(to, number);
  *to = static_cast<char>(number);
  return to + 1;
}

}  // namespace coordkit::codec

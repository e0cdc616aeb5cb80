#include "tools/coordctl/safe_bytes.h"

#include <algorithm>
#include <string>

namespace coordkit::coordctl {
namespace {

// How many bytes the code point at the front has; 0: it is none, or one that a terminal should not receive.
size_t code_point_bytes(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (at(0) < 0x80) return at(0) >= 0x20 && at(0) != 0x7f ? 1 : 0;
  const size_t bytes = at(0) >= 0xf0 ? 4 : at(0) >= 0xe0 ? 3 : 2;
  if (at(0) < 0xc2 || at(0) > 0xf4 || text.size() < bytes) return 0;
  uint32_t value = at(0) & (0xffu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
    value = value << 6 | (at(i) & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  const bool control = value < 0xa0;  // the second block of control characters
  return value < kLeast[bytes] || value > 0x10ffff || surrogate || control ? 0 : bytes;
}

// The longest prefix of at most `most` bytes that is text.
size_t text_bytes(std::string_view bytes, size_t most) {
  size_t done = 0;
  while (done < bytes.size()) {
    const size_t next = code_point_bytes(bytes.substr(done));
    if (next == 0 || done + next > most) break;
    done += next;
  }
  return done;
}

std::string hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

}  // namespace

Json safe_bytes(std::string_view bytes, size_t most) {
  const size_t text = text_bytes(bytes, bytes.size());
  if (text == bytes.size() && text <= most) return std::string(bytes);
  if (text == bytes.size()) return {{"text", std::string(bytes.substr(0, text_bytes(bytes, most)))}, {"bytes", bytes.size()}};
  return {{"hex", hex(bytes.substr(0, std::min(most, bytes.size())))}, {"bytes", bytes.size()}};
}

}  // namespace coordkit::coordctl

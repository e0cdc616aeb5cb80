#include "tools/coordctl/safe_bytes.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"

namespace coordkit::coordctl {
namespace {

// How many bytes the character at the front has; 0: it is none, or one that a terminal should not receive.
size_t shown_bytes(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t bytes = utf8_length(text);
  const bool control = bytes == 1 ? at(0) < 0x20 || at(0) == 0x7f : bytes == 2 && at(0) == 0xc2 && at(1) < 0xa0;
  return control ? 0 : bytes;
}

// The longest prefix of at most `most` bytes that is text.
size_t text_bytes(std::string_view bytes, size_t most) {
  size_t done = 0;
  while (done < bytes.size()) {
    const size_t next = shown_bytes(bytes.substr(done));
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

// Printable stand-ins for bytes that may be hostile, in a sentence: short, and never raw.
#pragma once

#include <string>
#include <string_view>

namespace coordkit {

// The first `most` bytes.
inline std::string printable(std::string_view text, size_t most) {
  std::string out(text.substr(0, most));
  for (char& byte : out) byte = byte >= 0x20 && byte < 0x7f ? byte : '?';
  return out;
}

// A name.
inline std::string quoted(std::string_view name) {
  constexpr size_t kShown = 64;
  return '"' + printable(name, kShown) + (name.size() > kShown ? "...\"" : "\"");
}

}  // namespace coordkit

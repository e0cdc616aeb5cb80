// A printable stand-in for a name in a sentence: short, and never the raw bytes of a hostile one.
#pragma once

#include <string>
#include <string_view>

namespace coordkit {

inline std::string quoted(std::string_view name) {
  constexpr size_t kShown = 64;
  std::string out = "\"";
  for (const char byte : name.substr(0, kShown)) out += byte >= 0x20 && byte < 0x7f ? byte : '?';
  return out + (name.size() > kShown ? "...\"" : "\"");
}

}  // namespace coordkit

// Bytes as golden files show them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace coordkit {

inline std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += "0123456789abcdef"[static_cast<uint8_t>(byte) >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace coordkit

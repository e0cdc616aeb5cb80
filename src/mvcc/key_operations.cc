#include "coordkit/keys/key_operations.h"

namespace coordkit {

// Increments the last byte of the prefix that can be incremented, and drops the bytes after it.
std::string prefix_end(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<uint8_t>(end.back()) == 0xff) end.pop_back();
  if (end.empty()) return std::string(kNoEnd);
  end.back() = static_cast<char>(static_cast<uint8_t>(end.back()) + 1);
  return end;
}

}  // namespace coordkit

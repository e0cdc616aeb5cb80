// The number that a refusal's sentence ends with: how one that says "from revision 207" says it to programs too, without bytes
// beside the message that nobody could read.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace coordkit {

// Decimal, the very last word; nothing: the sentence ends otherwise.
inline std::optional<uint64_t> last_number(std::string_view sentence) {
  const std::string_view word = sentence.substr(sentence.find_last_of(' ') + 1);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace coordkit

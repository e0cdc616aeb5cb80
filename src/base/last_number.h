// The number at the end of a refusal's sentence. "from revision 207" carries it for programs too, without data besides the
// message that people could not read.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace coordkit {

// The very last word as a decimal number; nullopt: the sentence ends otherwise.
inline std::optional<uint64_t> last_number(std::string_view sentence) {
  const std::string_view word = sentence.substr(sentence.find_last_of(' ') + 1);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace coordkit

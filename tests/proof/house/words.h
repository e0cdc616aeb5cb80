// Characters and literals of C++, for the readers of source texts in this folder.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace coordkit::house {

inline bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The end of the comment or literal that begins at `at` in a C++ text, or `at` if none begins there.
inline size_t skip(std::string_view text, size_t at) {
  const auto after = [&](std::string_view end, size_t from) {
    const size_t found = text.find(end, from);
    return found == text.npos ? text.size() : found + end.size();
  };
  const char c = text[at];
  const char before = at == 0 ? ' ' : text[at - 1];
  if (text.substr(at, 2) == "//") return after("\n", at);
  if (text.substr(at, 2) == "/*") return after("*/", at);
  if (c == '"' && before == 'R') {
    const size_t opens = text.find('(', at);
    return after(")" + std::string(text.substr(at + 1, opens - at - 1)) + "\"", opens);
  }
  if (c != '"' && (c != '\'' || in_word(before))) return at;  // 1'000 is a number
  size_t end = at + 1;
  while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
  return end + 1;
}

}  // namespace coordkit::house

#pragma once

#include <cctype>

namespace coordkit::house {

inline bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace coordkit::house

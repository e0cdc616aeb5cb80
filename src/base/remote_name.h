// The names of remotes: what a gateway takes, apply keeps, and a list of permissions is for.
#pragma once

#include <algorithm>
#include <string_view>

namespace coordkit {

inline constexpr size_t kRemoteNameBytesMax = 64;

// 1 to 64 letters, digits and ". _ - / @ :". So it can be shown and typed as it is.
inline bool is_remote_name(std::string_view name) {
  const auto fits = [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || std::string_view("._-/@:").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kRemoteNameBytesMax && std::ranges::all_of(name, fits);
}

}  // namespace coordkit

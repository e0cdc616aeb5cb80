// Fixes the present meaning of a path for later use: the host may change its directory meanwhile.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

namespace coordkit::storage {

// Without slashes at its end. As it is where no directory can be named: it is empty, or the current directory is gone.
inline std::string absolute_path(const std::string& path) {
  std::error_code error;
  std::string absolute = std::filesystem::absolute(path, error).string();
  if (error || path.empty()) return path;
  while (absolute.size() > 1 && absolute.back() == '/') absolute.pop_back();
  return absolute;
}

// Whether the path is one below that of the directory, by their words alone: nothing is looked up.
inline bool lies_in(const std::string& path, const std::string& directory) {
  const std::filesystem::path outer = std::filesystem::path(absolute_path(directory)).lexically_normal();
  const std::filesystem::path inner = std::filesystem::path(absolute_path(path)).lexically_normal();
  return std::ranges::mismatch(outer, inner).in1 == outer.end();
}

}  // namespace coordkit::storage

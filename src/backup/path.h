// A path as its directory and its name there. Files are made and renamed durably in this form.
#pragma once

#include <string>
#include <string_view>

namespace coordkit::backup {

struct SplitPath {
  std::string parent;
  std::string name;  // empty: the path names no file
};

inline SplitPath split_path(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {".", std::string(path == "." || path == ".." ? "" : path)};
  const std::string_view name = path.substr(slash + 1);
  return {std::string(path.substr(0, slash == 0 ? 1 : slash)), std::string(name == "." || name == ".." ? "" : name)};
}

}  // namespace coordkit::backup

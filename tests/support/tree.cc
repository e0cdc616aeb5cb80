#include "tests/support/tree.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/support/source_dir.h"

namespace coordkit {

namespace fs = std::filesystem;

std::string text_of_file(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> files_below(std::initializer_list<std::string_view> folders,
                                  std::initializer_list<std::string_view> extensions) {
  std::vector<fs::path> found;
  for (const std::string_view folder : folders) {
    if (!fs::is_directory(fs::path(source_dir()) / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_dir()) / folder)) {
      const std::string extension = entry.path().extension();
      const bool wanted = extensions.size() == 0 || std::ranges::find(extensions, extension) != extensions.end();
      if (entry.is_regular_file() && wanted) found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

std::string path_in_tree(const fs::path& path) { return path.lexically_relative(source_dir()); }

void copy_dev(const fs::path& into) {
  fs::create_directories(into / "tools");
  fs::copy_file(fs::path(source_dir()) / "dev", into / "dev", fs::copy_options::overwrite_existing);
  fs::copy(fs::path(source_dir()) / "tools/dev", into / "tools/dev",
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
}

}  // namespace coordkit

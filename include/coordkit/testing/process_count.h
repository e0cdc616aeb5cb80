// Counts this process's open descriptors and threads, to notice leaks. Linux; elsewhere both are
// zero.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace coordkit::testkit {

// The number of names in a directory; zero if it cannot be read.
inline size_t files_in(const char* directory) {
  std::error_code none;
  const std::filesystem::directory_iterator files(directory, none);
  return none ? 0 : static_cast<size_t>(std::distance(begin(files), end(files)));
}
// Includes the one that reads the directory.
inline size_t open_descriptors() { return files_in("/proc/self/fd"); }
// Includes the calling thread.
inline size_t running_threads() { return files_in("/proc/self/task"); }

}  // namespace coordkit::testkit

// Every sync of a directory by PosixFileSystem passes here, because this program's fsync takes precedence over the C library's.
#pragma once

#include <string>
#include <vector>

namespace coordkit::testkit {

// Remembers the directories that are synced while it lives, by their paths. One instance at a time.
class DirectorySyncs {
 public:
  DirectorySyncs();
  ~DirectorySyncs();
  DirectorySyncs(const DirectorySyncs&) = delete;
  DirectorySyncs& operator=(const DirectorySyncs&) = delete;

  bool has(const std::string& path) const;
};

}  // namespace coordkit::testkit

// The files of one LMDB environment, as the directory has them. LMDB maps both, and a map of a file that was cut short ends the
// process that reads it: the data file is looked at before LMDB opens it, and again before every transaction. The lock file
// holds LMDB's mutexes and its readers, which a stranger's byte would lock for ever: it loses its name once it is mapped.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace coordkit::storage {

// What the file system says of a full disk, as kUnavailable: it may pass.
absl::Status until_room(absl::Status status);

class LmdbFiles {
 public:
  explicit LmdbFiles(std::string data_path) : data_path_(std::move(data_path)), lock_path_(data_path_ + "-lock") {}
  const std::string& data_path() const { return data_path_; }

  // Makes a lock file for so many readers that has its room on the disk and remembers nobody; kFailedPrecondition: one of the
  // names belongs to something that is no file. Only while the environment is closed.
  absl::Status prepare(uint32_t views_max) const;
  // Takes the lock file's name away: only who has mapped it reaches it from here on.
  absl::Status unlink_lock() const;
  // Remembers the data file as LMDB left it.
  absl::Status note();
  void renamed(std::string data_path) { data_path_ = std::move(data_path); }
  void note_growth();  // after a commit
  // kDataLoss: the data file was removed, replaced or cut short since then.
  absl::Status unchanged() const;

 private:
  struct Mark {
    dev_t device = 0;
    ino_t inode = 0;
    uint64_t bytes = 0;
  };
  static absl::StatusOr<Mark> mark(const std::string& path);  // kNotFound: there is no such file

  std::string data_path_;
  const std::string lock_path_;
  Mark data_;
};

}  // namespace coordkit::storage

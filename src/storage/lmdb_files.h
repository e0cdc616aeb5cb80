// The files of one LMDB environment, as the directory has them: LMDB maps both, and a map of a file that was cut short ends the
// process that reads it. So they are looked at before LMDB opens them, and again before every transaction.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/posix_file_system.h"

namespace coordkit::storage {

// What the file system says of a full disk, as kUnavailable: it may pass.
absl::Status until_room(absl::Status status);

class LmdbFiles {
 public:
  explicit LmdbFiles(std::string data_path) : data_path_(std::move(data_path)), lock_path_(data_path_ + "-lock") {}
  const std::string& data_path() const { return data_path_; }

  // Makes a lock file for so many readers that has its room on the disk and remembers nobody; kFailedPrecondition: one of the
  // names belongs to something that is no file. Only while the environment is closed.
  absl::Status prepare(uint32_t views_max);
  // Remembers what is there now, as LMDB left it.
  absl::Status note();
  void renamed(std::string data_path);
  void note_growth();  // after a commit
  // kDataLoss: a file was removed, replaced or cut short since then.
  absl::Status unchanged() const;
  // Whether what LMDB has mapped of the lock file is there, also if its name is gone.
  bool lock_intact() const;

 private:
  struct Mark {
    dev_t device = 0;
    ino_t inode = 0;
    uint64_t bytes = 0;
  };
  static absl::StatusOr<Mark> mark(const std::string& path);  // kNotFound: there is no such file
  static absl::Status unchanged(const std::string& path, const Mark& before);

  std::string data_path_;
  std::string lock_path_;
  Descriptor lock_file_;
  Mark data_;
  Mark lock_;
};

}  // namespace coordkit::storage

// The files of one LMDB environment in its directory. LMDB maps both, and truncating a mapped file kills the process that reads
// it: the data file is checked before LMDB opens it, and again before every transaction. The lock file holds LMDB's mutexes and
// its readers, which a byte written by another process could lock forever: its name is removed once it is mapped.
//
// Threads: unchanged() any, beside note_growth() of the one that writes; the others while nothing else uses the environment.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace coordkit::storage {

// A full-disk error of the file system as kUnavailable: it may pass.
absl::Status until_room(absl::Status status);

class LmdbFiles {
 public:
  explicit LmdbFiles(std::string data_path) : data_path_(std::move(data_path)), lock_path_(data_path_ + "-lock") {}
  const std::string& data_path() const { return data_path_; }
  uint64_t data_bytes() const { return data_bytes_; }  // as noted last

  // Makes a lock file for this many readers with its blocks allocated and no reader in it; kFailedPrecondition: one of the
  // names belongs to something that is not a file. Only while the environment is closed.
  absl::Status prepare(uint32_t views_max) const;
  // Removes the lock file's name: from here on only processes that have mapped it can reach it.
  absl::Status unlink_lock() const;
  // Records the data file as LMDB left it.
  absl::Status note();
  void renamed(std::string data_path) { data_path_ = std::move(data_path); }
  void note_growth();  // after a commit
  // kDataLoss: the data file was removed, replaced or truncated since then.
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
  Mark data_;                            // but for its size, as noted last
  std::atomic<uint64_t> data_bytes_{0};  // it was at least as large as this
};

}  // namespace coordkit::storage

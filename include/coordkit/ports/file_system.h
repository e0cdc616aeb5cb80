// Port: the byte level under the segmented log, so that tests can run the real log on a hostile
// disk.
//
// Threads: one thread at a time. Every call may block.
// Errors: kResourceExhausted (no space), kNotFound, kPermissionDenied, kDataLoss (EIO). The message
// names the file and the attempted operation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"

namespace COORDKIT_EXPORT coordkit {

// Tells files apart, whatever their names. All zeros: the file system cannot tell.
struct FileIdentity {
  uint64_t device = 0;  // st_dev
  uint64_t number = 0;  // st_ino
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// An open file of a FileSystem. Closed by its destructor, which reports nothing.
class File {
 public:
  virtual ~File() = default;
  // All of it or an error.
  virtual absl::Status pwrite(uint64_t offset, std::string_view bytes) = 0;
  // Shorter only at end of file.
  virtual absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const = 0;
  virtual absl::Status sync() = 0;  // fdatasync; a failure is final for this file
  // The length in bytes, with everything that was written, synced or not.
  virtual absl::StatusOr<uint64_t> size() const = 0;
  virtual FileIdentity identity() const { return {}; }  // of the open file, also once its name is gone
};

// How a file is opened. Read and ReadWrite: it must exist (kNotFound). CreateNew: it must not.
enum class OpenMode : uint8_t { Read, ReadWrite, CreateNew };

// One directory. Names are plain file names without slashes.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // Opens a file of this directory. A new name is durable after sync_dir().
  virtual absl::StatusOr<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) = 0;
  // Replaces `to`; durable after sync_dir.
  virtual absl::Status rename(std::string_view from, std::string_view to) = 0;
  // Removes the name; durable after sync_dir(). kNotFound: there is none.
  virtual absl::Status remove(std::string_view name) = 0;
  // Makes created, renamed and removed names durable.
  virtual absl::Status sync_dir() = 0;
  virtual absl::StatusOr<std::vector<std::string>> list() = 0;  // sorted
  // Bytes that this process may still take on the disk of this directory.
  virtual absl::StatusOr<uint64_t> free_bytes() = 0;
  // Returns the identity of the file that has this name now. kNotFound: none has it.
  virtual absl::StatusOr<FileIdentity> identity_of(std::string_view name) const {
    static_cast<void>(name);
    return FileIdentity();
  }
  // kDataLoss: the directory's path names another directory by now, or none.
  virtual absl::Status still_there() const { return absl::OkStatus(); }
};

}  // namespace coordkit

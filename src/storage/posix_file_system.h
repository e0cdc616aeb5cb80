// The FileSystem port on a directory of this machine. All names are resolved relative to a descriptor of the directory, so
// that renaming one of its parents changes nothing.
#pragma once

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "base/descriptor.h"
#include "base/errno_status.h"
#include "coordkit/ports/file_system.h"

namespace coordkit::storage {

// Makes the name of what has this path durable.
absl::Status sync_name(const std::string& path);

// Tells kResourceExhausted apart: whether the disk has too little room, not the process too few descriptors.
bool lacks_room(const absl::Status& status);

class PosixFileSystem final : public FileSystem {
 public:
  static absl::StatusOr<std::unique_ptr<PosixFileSystem>> open(const std::string& path);

  absl::StatusOr<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override;
  absl::Status rename(std::string_view from, std::string_view to) override;
  absl::Status remove(std::string_view name) override;
  absl::Status sync_dir() override;
  absl::StatusOr<std::vector<std::string>> list() override;
  absl::StatusOr<uint64_t> free_bytes() override;
  absl::StatusOr<FileIdentity> identity_of(std::string_view name) const override;
  absl::Status still_there() const override;

  // Beyond the port, for the data directory.
  // kResourceExhausted: so many bytes more would not fit here. Unlike free_bytes() it sees quotas, because it allocates them,
  // in a file that never has a name; where there are none such, it does not.
  absl::Status room_for(uint64_t bytes);
  absl::Status make_directory(std::string_view name);      // and syncs this one; OK if it exists
  absl::Status make_new_directory(std::string_view name);  // kAlreadyExists: something has this name
  absl::Status lock();                                     // flock, for the life of this object; kFailedPrecondition if taken
  absl::Status lock_for_reading();                         // shared with other readers
  absl::Status allocate(std::string_view name, uint64_t bytes);  // a new file, blocks allocated; a failure leaves none
  absl::Status remove_directory(std::string_view name);          // an empty one

  // Beyond the port, for single files.
  // Opens a file to read and write that has one user at a time, over all processes (flock). kFailedPrecondition (InUse).
  absl::StatusOr<std::unique_ptr<File>> open_alone(std::string_view name);
  // Makes a file of what `fill` writes. It gets its name once it is whole and durable, and is `name`.coordkit-part until then;
  // a failure leaves nothing, but if only the directory could not be synced: somebody may have opened the file since.
  // kAlreadyExists: the name is taken. kFailedPrecondition (InUse): another one is making it.
  absl::Status make_file(std::string_view name, absl::FunctionRef<absl::Status(File&)> fill);

 private:
  PosixFileSystem(std::string path, Descriptor directory) : path_(std::move(path)), directory_(std::move(directory)) {}
  absl::Status lock(int kind);
  absl::Status must_be_free(const std::string& name) const;
  bool is_name_of(const std::string& name, int fd) const;
  absl::Status rename_to_free(const std::string& from, const std::string& to);
  std::string in(std::string_view name) const { return path_ + "/" + std::string(name); }

  const std::string path_;
  const Descriptor directory_;
};

}  // namespace coordkit::storage

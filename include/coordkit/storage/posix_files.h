// The directories of the built-in log, in the form of the port. Wrap one in a FileSystem of your
// own that counts, encrypts or breaks (Parts::log_files).
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/ports/file_system.h"

namespace COORDKIT_EXPORT coordkit {

// Opens the directory `path`, which must exist. kNotFound, kPermissionDenied.
// Threads: as the port; each thread opens its own.
absl::StatusOr<std::unique_ptr<FileSystem>> posix_files(const std::string& path);

}  // namespace coordkit

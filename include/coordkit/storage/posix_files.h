// The directories that the log in the box lives in, as the port sees them: to wrap in a FileSystem of one's own, which then
// counts, encrypts or breaks (Parts::log_files).
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/file_system.h"

namespace COORDKIT_EXPORT coordkit {

// The directory `path`, which exists. kNotFound, kPermissionDenied. Threads: as of the port; each thread opens its own.
absl::StatusOr<std::unique_ptr<FileSystem>> posix_files(const std::string& path);

}  // namespace coordkit

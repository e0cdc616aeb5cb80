// The file system's part of a local socket: its name and its permissions.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "storage/posix_file_system.h"

namespace coordkit::storage {

// OK: a socket has this name. kNotFound: nothing has. kFailedPrecondition: something else has.
absl::Status find_socket(const std::string& path);
// For a socket that has no name yet: its file will be accessible to its owner only, from the first moment on.
absl::Status keep_to_owner(const Descriptor& socket);

}  // namespace coordkit::storage

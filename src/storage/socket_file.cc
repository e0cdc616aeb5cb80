#include "storage/socket_file.h"

#include <sys/stat.h>

#include <cerrno>

#include "coordkit/error.h"

namespace coordkit::storage {
namespace {

constexpr mode_t kOwnerOnly = 0600;

}  // namespace

absl::Status find_socket(const std::string& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0) return errno_status(errno, "cannot look at the socket " + path);
  if (S_ISSOCK(info.st_mode)) return absl::OkStatus();
  return make_error(Reason::ForeignData, path + " is the name of something that is no socket; move it away");
}

absl::Status keep_to_owner(const Descriptor& socket) {
  if (::fchmod(socket.get(), kOwnerOnly) == 0) return absl::OkStatus();
  return errno_status(errno, "cannot set the mode of a socket");
}

}  // namespace coordkit::storage

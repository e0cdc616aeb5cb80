#include "replica/operate/local_stream.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/cells.h"
#include "coordkit/error.h"

namespace coordkit {

Descriptor local_socket() { return open_socket(AF_UNIX, SOCK_STREAM, 0); }

sockaddr_un local_address(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, kLocalPathBytesMax);
  return address;
}

LocalStream LocalStream::connect(const std::string& path) {
  Descriptor socket = local_socket();
  const sockaddr_un address = local_address(path);
  const bool answered = socket && ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  return answered ? LocalStream(std::move(socket)) : LocalStream();
}

bool LocalStream::say(std::span<const std::string> cells) const {
  const std::string line = join_cells(cells) + "\n";
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t now = ::send(socket_.get(), line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return false;
    done += static_cast<size_t>(now);
  }
  return true;
}

absl::StatusOr<std::optional<std::vector<std::string>>> LocalStream::next(size_t bytes_max) {
  size_t end = 0;
  while ((end = heard_.find('\n')) == std::string::npos) {
    if (heard_.size() > bytes_max)
      return make_error(Reason::RequestTooLarge, "a command has " + std::to_string(bytes_max >> 10) + " KiB at most");
    char bytes[16384];
    const ssize_t now = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return std::nullopt;
    heard_.append(bytes, static_cast<size_t>(now));
  }
  absl::StatusOr<std::vector<std::string>> cells = split_cells(std::string_view(heard_).substr(0, end));
  heard_.erase(0, end + 1);
  if (!cells.ok()) return cells.status();
  return *std::move(cells);
}

void LocalStream::shutdown() const { ::shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace coordkit

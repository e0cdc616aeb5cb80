// One end of a local stream that carries lines of cells (base/cells.h): the admin socket has one for each visitor, coordctl
// one.
//
// Threads: one at a time, but shutdown() from any. Blocks.
#pragma once

#include <sys/un.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/descriptor.h"

namespace coordkit {

inline constexpr size_t kLocalPathBytesMax = 107;  // the kernel's bound

Descriptor local_socket();
sockaddr_un local_address(const std::string& path);  // of at most kLocalPathBytesMax

class LocalStream {
 public:
  LocalStream() = default;
  explicit LocalStream(Descriptor socket) : socket_(std::move(socket)) {}
  // Without a socket if no one answers there; errno says why.
  static LocalStream connect(const std::string& path);

  explicit operator bool() const { return static_cast<bool>(socket_); }
  int socket() const { return socket_.get(); }
  // A line; false: the other end is gone.
  bool say(std::span<const std::string> cells) const;
  // The next line; nullopt: the stream has ended. InvalidArgument: the line is malformed, the next may be fine.
  // RequestTooLarge: it is longer than `bytes_max`, and nothing after it can be parsed.
  absl::StatusOr<std::optional<std::vector<std::string>>> next(size_t bytes_max = SIZE_MAX);
  void shutdown() const;  // ends waits on either side

 private:
  Descriptor socket_;
  std::string heard_;
};

}  // namespace coordkit

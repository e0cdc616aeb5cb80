// What unix_transport.h is made of: a socket that listens at a path, and frames on a connected one.
//
// A frame is its size (4 bytes), its kind (1 byte) and its bytes, in the byte order of this host. It has no sum: the kernel
// carries it from memory to memory. Threads: none of these is safe to share.
#pragma once

#include <coordkit/error.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace example {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }
  bool open() const { return fd_ >= 0; }

 private:
  int fd_;
};

// A socket to `path`, by connect() or bind(); or none, with errno.
template <typename Attach>
Descriptor socket_at(const std::string& path, Attach attach) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof address.sun_path) return errno = ENAMETOOLONG, Descriptor();
  path.copy(address.sun_path, path.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (attach(socket.fd(), reinterpret_cast<const sockaddr*>(&address), socklen_t{sizeof address}) != 0) return Descriptor();
  return socket;
}

// The lock file beside the socket tells whether someone listens there: a socket that a dead process left behind does not count.
class Listener {
 public:
  explicit Listener(std::string path) : path_(std::move(path)) {}
  ~Listener() { close(); }

  absl::Status open() {
    using coordkit::make_error, coordkit::Reason, std::filesystem::perms;
    std::error_code error;
    const perms allowed = status(std::filesystem::absolute(path_).parent_path(), error).permissions();
    if (error || (allowed & (perms::group_all | perms::others_all)) != perms::none) {
      return make_error(Reason::PermissionDenied, "the directory of " + path_ + " must be its user's alone: chmod 0700");
    }
    lock_ = Descriptor(::open((path_ + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock_.open() || ::flock(lock_.fd(), LOCK_EX | LOCK_NB) != 0) {
      return make_error(Reason::CannotListen, "another process listens at " + path_);
    }
    ::unlink(path_.c_str());
    socket_ = socket_at(path_, ::bind);
    if (socket_.open() && ::listen(socket_.fd(), 64) == 0) return absl::OkStatus();
    return make_error(Reason::CannotListen, "cannot listen at " + path_ + ": " + std::strerror(errno));
  }
  Descriptor accept() const { return Descriptor(::accept4(fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)); }
  int fd() const { return socket_.fd(); }
  void close() {
    if (socket_.open()) ::unlink(path_.c_str());
    socket_ = Descriptor();
    lock_ = Descriptor();
  }

 private:
  const std::string path_;
  Descriptor lock_;
  Descriptor socket_;
};

enum class Kind : uint8_t { Hello = 1, Body = 2, Ping = 3, Refusal = 4 };

struct Piece {
  Kind kind;
  std::string body;
};

class Stream {
 public:
  explicit Stream(Descriptor socket) : socket_(std::move(socket)) {}
  int fd() const { return socket_.fd(); }
  size_t unsent() const { return out_.size(); }

  // Reads what is available, up to a limit: the number of bytes, or -1: the connection has ended.
  ssize_t read() {
    std::array<char, 64 << 10> bytes;
    const ssize_t got = ::recv(fd(), bytes.data(), bytes.size(), 0);
    if (got > 0) in_.append(bytes.data(), static_cast<size_t>(got));
    if (got > 0) return got;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
  }
  // The next frame, if all of it is here. One that is too large is never read, nor anything after it.
  std::optional<Piece> next(size_t bytes_max) {
    uint32_t size = 0;
    if (in_.size() < kHeaderBytes) return std::nullopt;
    std::memcpy(&size, in_.data(), sizeof size);
    oversize_ = size > bytes_max;
    if (oversize_ || in_.size() < kHeaderBytes + size) return std::nullopt;
    Piece piece{static_cast<Kind>(in_[sizeof size]), in_.substr(kHeaderBytes, size)};
    in_.erase(0, kHeaderBytes + size);
    return piece;
  }
  bool oversize() const { return oversize_; }

  void put(Kind kind, const std::string& body) {
    const auto size = static_cast<uint32_t>(body.size());
    out_.append(reinterpret_cast<const char*>(&size), sizeof size).append(1, static_cast<char>(kind)).append(body);
  }
  // Sends as much as the socket takes; false: the connection has ended.
  bool write() {
    const ssize_t sent = out_.empty() ? 0 : ::send(fd(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent > 0) out_.erase(0, static_cast<size_t>(sent));
    return sent >= 0 || errno == EAGAIN || errno == EINTR;
  }

 private:
  static constexpr size_t kHeaderBytes = sizeof(uint32_t) + 1;
  Descriptor socket_;
  std::string in_;
  std::string out_;
  bool oversize_ = false;
};

}  // namespace example

// File descriptors of this library. Numbers 0 to 2 are the host's standard streams, even while the host has closed them. If a
// file of ours had one of them, the host's next line of log would go into it. So every descriptor is opened here and gets a
// number from 3 on. A library that opens files by itself does so while a StandardStreamsKept lives.
//
// Every function leaves errno as the failed system call set it, and repeats a call that a signal interrupted. exec() closes
// all descriptors.
#pragma once

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <utility>

namespace coordkit {

inline constexpr int kFirstDescriptor = 3;

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }  // the caller closes it
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Repeats the call until no signal interrupts it: the host's own threads take signals.
template <typename Call>
auto uninterrupted(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// While one lives, the free numbers of the standard streams are occupied, so that no open() returns them. A read or write by
// the host there fails with EBADF, as before (O_PATH). A stream that the host opens by dup2() in the meantime stays.
//
// The numbers belong to the whole process, so here the library has a global: one user must not free a number that another one
// needs.
class StandardStreamsKept {
 public:
  StandardStreamsKept() {
    const int error = errno;
    Kept& kept = all();
    const std::lock_guard lock(kept.mutex);
    ++kept.users;
    for (int stream = 0; stream < kFirstDescriptor; ++stream) {
      if (::fcntl(stream, F_GETFD) >= 0) continue;
      const int number = uninterrupted([] { return ::open("/", O_PATH | O_CLOEXEC); });
      if (number >= kFirstDescriptor) ::close(number);  // the host took the number first
      if (number >= 0 && number < kFirstDescriptor) kept.streams[static_cast<size_t>(number)] = true;
    }
    errno = error;
  }
  ~StandardStreamsKept() {
    const int error = errno;
    Kept& kept = all();
    const std::lock_guard lock(kept.mutex);
    if (--kept.users == 0) {
      for (int stream = 0; stream < kFirstDescriptor; ++stream) {
        if (!std::exchange(kept.streams[static_cast<size_t>(stream)], false)) continue;
        const int flags = ::fcntl(stream, F_GETFL);
        if (flags >= 0 && (flags & O_PATH) != 0) ::close(stream);
      }
    }
    errno = error;
  }
  StandardStreamsKept(const StandardStreamsKept&) = delete;
  StandardStreamsKept& operator=(const StandardStreamsKept&) = delete;

 private:
  struct Kept {
    std::mutex mutex;
    size_t users = 0;
    std::array<bool, kFirstDescriptor> streams{};
  };
  static Kept& all() {
    static Kept kept;
    return kept;
  }
};

// The descriptor that `open` returns, under a number from 3 on. None: errno says why.
template <typename Open>
Descriptor opened(Open open) {
  Descriptor made;
  {
    const StandardStreamsKept kept;
    made = Descriptor(uninterrupted(open));
  }
  if (made.get() < 0 || made.get() >= kFirstDescriptor) return made;
  Descriptor higher(::fcntl(made.get(), F_DUPFD_CLOEXEC, kFirstDescriptor));  // the host closed a stream in between
  const int error = errno;
  made = Descriptor();
  errno = error;
  return higher;
}

// The path is relative to a directory, or to AT_FDCWD.
inline Descriptor open_at(int directory, const char* path, int flags, mode_t mode = 0) {
  return opened([=] { return ::openat(directory, path, flags | O_CLOEXEC, mode); });
}

inline Descriptor open_socket(int family, int type, int protocol) {
  return opened([=] { return ::socket(family, type | SOCK_CLOEXEC, protocol); });
}

inline Descriptor accept_from(int listener) {
  return opened([=] { return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC); });
}

inline Descriptor open_timer(clockid_t clock) {
  return opened([=] { return ::timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK); });
}

inline Descriptor open_event() {
  return opened([] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); });
}

}  // namespace coordkit

#include "tests/system/guest/interrupted_calls.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>

namespace coordkit::testkit {
namespace {

using Kind = InterruptedCalls::Kind;
constexpr uint64_t kEvery = 5;  // more than LMDB makes of a kind before it gives up and is asked again
std::atomic<bool> interrupting{false};
std::array<std::atomic<uint64_t>, InterruptedCalls::kKinds> calls_of_kind{};

bool interrupted(Kind kind) {
  if (!interrupting || calls_of_kind[static_cast<size_t>(kind)]++ % kEvery != 0) return false;
  errno = EINTR;
  return true;
}

int open_now(Kind kind, int directory, const char* path, int flags, mode_t mode) {
  return interrupted(kind) ? -1 : static_cast<int>(::syscall(SYS_openat, directory, path, flags, mode));
}

}  // namespace

InterruptedCalls::InterruptedCalls() {
  for (auto& calls : calls_of_kind) calls = 0;
  interrupting = true;
}
InterruptedCalls::~InterruptedCalls() { interrupting = false; }
uint64_t InterruptedCalls::of(Kind kind) const { return (calls_of_kind[static_cast<size_t>(kind)] + kEvery - 1) / kEvery; }

}  // namespace coordkit::testkit

using coordkit::testkit::interrupted;
using coordkit::testkit::Kind;
using coordkit::testkit::open_now;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_now(Kind::Open, AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_now(Kind::Open, AT_FDCWD, path, flags, mode);
}
int openat(int directory, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_now(Kind::OpenAt, directory, path, flags, mode);
}
int fsync(int fd) { return interrupted(Kind::Sync) ? -1 : static_cast<int>(::syscall(SYS_fsync, fd)); }
int fdatasync(int fd) { return interrupted(Kind::SyncData) ? -1 : static_cast<int>(::syscall(SYS_fdatasync, fd)); }
int ftruncate(int fd, off_t size) {
  return interrupted(Kind::Truncate) ? -1 : static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}
int flock(int fd, int how) { return interrupted(Kind::Lock) ? -1 : static_cast<int>(::syscall(SYS_flock, fd, how)); }
int fallocate(int fd, int mode, off_t offset, off_t size) {
  return interrupted(Kind::Allocate) ? -1 : static_cast<int>(::syscall(SYS_fallocate, fd, mode, offset, size));
}
int posix_fallocate(int fd, off_t offset, off_t size) {
  if (interrupted(Kind::Allocate)) return EINTR;
  return ::syscall(SYS_fallocate, fd, 0, offset, size) == 0 ? 0 : errno;
}
ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  return interrupted(Kind::Read) ? -1 : ::syscall(SYS_pread64, fd, bytes, size, offset);
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  return interrupted(Kind::Write) ? -1 : ::syscall(SYS_pwrite64, fd, bytes, size, offset);
}

}  // extern "C"

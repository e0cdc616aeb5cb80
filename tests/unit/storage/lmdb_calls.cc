#include "tests/unit/storage/lmdb_calls.h"

#include <fcntl.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <string>

namespace coordkit::testkit {
namespace {

std::mutex mutex;
bool watching = false;
uint64_t made_calls = 0;
uint64_t failing_call = 0;
std::vector<LmdbCalls::Change> recorded;
LmdbCalls::Room room = LmdbCalls::Room::Enough;
bool all_fail = false;

std::string path_of(int fd) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(link.c_str(), path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : std::string();
}
bool is_data_file(int fd) { return path_of(fd).find("/data.") != std::string::npos; }
bool is_lock_file(int fd) { return path_of(fd).ends_with("-lock"); }

LmdbCalls::Room room_now() {
  const std::scoped_lock lock(mutex);
  return room;
}

// The result of a write of `size` bytes on a full disk; nullopt: it passes on to the kernel.
std::optional<ssize_t> without_room(int fd, size_t size) {
  const LmdbCalls::Room now = room_now();
  if (now == LmdbCalls::Room::Enough || !is_data_file(fd)) return std::nullopt;
  if (now != LmdbCalls::Room::None) return static_cast<ssize_t>(size / 2);
  errno = ENOSPC;
  return -1;
}

// Whether the call passes on to the kernel; errno is set if not.
bool passes(int fd, LmdbCalls::Change change) {
  const std::scoped_lock lock(mutex);
  if ((!watching && !all_fail) || !is_data_file(fd)) return true;
  if (all_fail) {
    errno = EIO;
    return false;
  }
  if (is_lock_file(fd)) return true;  // nothing in it is worth keeping
  if (++made_calls == failing_call) {
    errno = EIO;
    return false;
  }
  change.durable = change.bytes.empty() || (::fcntl(fd, F_GETFL) & O_DSYNC) != 0;
  recorded.push_back(std::move(change));
  return true;
}

ssize_t pwrite_watched(int fd, const void* bytes, size_t size, off_t offset) {
  if (const std::optional<ssize_t> result = without_room(fd, size)) return *result;
  if (!passes(fd, {static_cast<uint64_t>(offset), std::string(static_cast<const char*>(bytes), size)})) return -1;
  return ::syscall(SYS_pwrite64, fd, bytes, size, offset);
}

}  // namespace

LmdbCalls::LmdbCalls(uint64_t failing) {
  const std::scoped_lock lock(mutex);
  watching = true;
  made_calls = 0;
  failing_call = failing;
  recorded.clear();
}

LmdbCalls::~LmdbCalls() {
  const std::scoped_lock lock(mutex);
  watching = false;
}

void LmdbCalls::set_room(Room now) {
  const std::scoped_lock lock(mutex);
  room = now;
}

void LmdbCalls::set_failing(bool failing) {
  const std::scoped_lock lock(mutex);
  all_fail = failing;
}

uint64_t LmdbCalls::made() const {
  const std::scoped_lock lock(mutex);
  return made_calls;
}

std::vector<LmdbCalls::Change> LmdbCalls::changes() const {
  const std::scoped_lock lock(mutex);
  return recorded;
}

}  // namespace coordkit::testkit

extern "C" {

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  return coordkit::testkit::pwrite_watched(fd, bytes, size, offset);
}

ssize_t writev(int fd, const iovec* parts, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  if (const std::optional<ssize_t> result = coordkit::testkit::without_room(fd, bytes.size())) return *result;
  const off_t offset = ::lseek(fd, 0, SEEK_CUR);
  if (!coordkit::testkit::passes(fd, {static_cast<uint64_t>(offset), std::move(bytes)})) return -1;
  return ::syscall(SYS_writev, fd, parts, count);
}

int fstatvfs(int fd, struct statvfs* info) {
  struct statfs found = {};
  if (::fstatfs(fd, &found) != 0) return -1;
  *info = {};
  info->f_frsize = static_cast<unsigned long>(found.f_bsize);
  using Room = coordkit::testkit::LmdbCalls::Room;
  const Room room = coordkit::testkit::room_now();
  info->f_bavail = room == Room::Enough || room == Room::Quota ? found.f_bavail : 0;
  return 0;
}

int fallocate(int fd, int mode, off_t offset, off_t size) {
  if (coordkit::testkit::room_now() == coordkit::testkit::LmdbCalls::Room::Quota) {
    errno = EDQUOT;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fallocate, fd, mode, offset, size));
}

int fdatasync(int fd) {
  if (!coordkit::testkit::passes(fd, {})) return -1;
  if (coordkit::testkit::is_data_file(fd)) return 0;  // tests kill processes, never the machine
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

}  // extern "C"

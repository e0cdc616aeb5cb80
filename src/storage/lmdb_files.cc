#include "storage/lmdb_files.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "coordkit/error.h"
#include "storage/checkpoint_record.h"

namespace coordkit::storage {
namespace {

constexpr mode_t kLockFileMode = 0640;

// As LMDB lays it out: two blocks with a mutex each, and a cache line for every reader.
size_t lock_bytes(uint32_t readers) {
  constexpr size_t kLine = 64;
  const auto lines = [](size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; };
  return lines(20 + sizeof(pthread_mutex_t)) + lines(sizeof(pthread_mutex_t)) + readers * kLine;
}

}  // namespace

absl::Status until_room(absl::Status status) {
  return absl::IsResourceExhausted(status) ? absl::UnavailableError(status.message()) : status;
}

absl::StatusOr<LmdbFiles::Mark> LmdbFiles::mark(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return errno_status(errno, "cannot look at " + path);
  if (!S_ISREG(info.st_mode)) {
    return make_error(Reason::ForeignData, path + " is no file: the state directory holds something that is not coordkit's");
  }
  return Mark{info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size)};
}

absl::Status LmdbFiles::unchanged(const std::string& path, const Mark& before) {
  const absl::StatusOr<Mark> now = mark(path);
  if (!now.ok())
    return rotten("its file was taken away under the running replica (" + std::string(now.status().message()) + ")");
  if (now->device != before.device || now->inode != before.inode) {
    return rotten("its file " + path + " was replaced under the running replica");
  }
  if (now->bytes < before.bytes) return rotten("its file " + path + " was cut short under the running replica");
  return absl::OkStatus();
}

// LMDB writes to it through a map: a hole in it that finds no room on the disk would end the process.
absl::Status LmdbFiles::prepare(uint32_t views_max) {
  if (const absl::StatusOr<Mark> data = mark(data_path_); !data.ok() && !absl::IsNotFound(data.status())) return data.status();
  if (const absl::StatusOr<Mark> lock = mark(lock_path_); !lock.ok() && !absl::IsNotFound(lock.status())) return lock.status();
  Descriptor file(::open(lock_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, kLockFileMode));
  if (!file) return until_room(errno_status(errno, "cannot open " + lock_path_));
  const std::string zeros(lock_bytes(views_max), '\0');
  size_t done = 0;
  while (done < zeros.size()) {
    const ssize_t now = ::pwrite(file.get(), zeros.data() + done, zeros.size() - done, static_cast<off_t>(done));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return until_room(errno_status(now < 0 ? errno : EIO, "cannot write " + lock_path_));
    done += static_cast<size_t>(now);
  }
  if (::ftruncate(file.get(), static_cast<off_t>(zeros.size())) != 0) return errno_status(errno, "cannot cut " + lock_path_);
  lock_file_ = std::move(file);
  return absl::OkStatus();
}

absl::Status LmdbFiles::note() {
  const absl::StatusOr<Mark> data = mark(data_path_);
  if (!data.ok()) return data.status();
  const absl::StatusOr<Mark> lock = mark(lock_path_);
  if (!lock.ok()) return lock.status();
  data_ = *data;
  lock_ = *lock;
  return absl::OkStatus();
}

void LmdbFiles::renamed(std::string data_path) {
  data_path_ = std::move(data_path);
  lock_path_ = data_path_ + "-lock";
}

absl::Status LmdbFiles::unchanged() const {
  absl::Status status = unchanged(data_path_, data_);
  if (status.ok()) status = unchanged(lock_path_, lock_);
  return status;
}

bool LmdbFiles::lock_intact() const {
  struct stat info = {};
  return lock_file_ && ::fstat(lock_file_.get(), &info) == 0 && static_cast<uint64_t>(info.st_size) >= lock_.bytes;
}

void LmdbFiles::note_growth() {
  const absl::StatusOr<Mark> now = mark(data_path_);
  if (now.ok() && now->device == data_.device && now->inode == data_.inode) data_.bytes = now->bytes;
}

}  // namespace coordkit::storage

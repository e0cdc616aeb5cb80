#include "storage/state/lmdb_files.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "coordkit/error.h"
#include "storage/posix_file_system.h"
#include "storage/state/checkpoint_record.h"

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
  return absl::IsResourceExhausted(status) ? absl::UnavailableError(std::string(sentence_of(status))) : status;
}

absl::StatusOr<LmdbFiles::Mark> LmdbFiles::mark(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return errno_status(errno, "cannot look at " + path);
  if (!S_ISREG(info.st_mode)) {
    return make_error(Reason::ForeignData, path + " is no file: the state directory holds something that is not coordkit's");
  }
  return Mark{info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size)};
}

// LMDB writes to it through a map: a hole that finds no room on the disk would kill the process.
absl::Status LmdbFiles::prepare(uint32_t views_max) const {
  for (const std::string& path : {data_path_, lock_path_}) {
    const absl::StatusOr<Mark> found = mark(path);
    if (!found.ok() && !absl::IsNotFound(found.status())) return found.status();
  }
  if (absl::Status status = unlink_lock(); !status.ok()) return status;
  const Descriptor file = open_at(AT_FDCWD, lock_path_.c_str(), O_RDWR | O_CREAT | O_EXCL, kLockFileMode);
  if (!file) return until_room(errno_status(errno, "cannot create " + lock_path_));
  const std::string zeros(lock_bytes(views_max), '\0');
  size_t done = 0;
  while (done < zeros.size()) {
    const auto at = static_cast<off_t>(done);
    const ssize_t now = uninterrupted([&] { return ::pwrite(file.get(), zeros.data() + done, zeros.size() - done, at); });
    if (now <= 0) return until_room(errno_status(now < 0 ? errno : EIO, "cannot write " + lock_path_));
    done += static_cast<size_t>(now);
  }
  return absl::OkStatus();
}

absl::Status LmdbFiles::unlink_lock() const {
  if (::unlink(lock_path_.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return errno_status(errno, "cannot remove " + lock_path_);
}

absl::Status LmdbFiles::note() {
  const absl::StatusOr<Mark> data = mark(data_path_);
  if (!data.ok()) return data.status();
  data_ = *data;
  data_bytes_ = data->bytes;
  return absl::OkStatus();
}

absl::Status LmdbFiles::unchanged() const {
  const uint64_t noted_bytes = data_bytes_;  // first: while the file is looked at, it may grow and be noted
  const absl::StatusOr<Mark> now = mark(data_path_);
  if (!now.ok()) return rotten("its file was removed under the running replica (" + std::string(now.status().message()) + ")");
  if (now->device != data_.device || now->inode != data_.inode) {
    return rotten("its file " + data_path_ + " was replaced under the running replica");
  }
  if (now->bytes < noted_bytes) return rotten("its file " + data_path_ + " was cut short under the running replica");
  return absl::OkStatus();
}

void LmdbFiles::note_growth() {
  const absl::StatusOr<Mark> now = mark(data_path_);
  if (now.ok() && now->device == data_.device && now->inode == data_.inode) data_bytes_ = now->bytes;
}

}  // namespace coordkit::storage

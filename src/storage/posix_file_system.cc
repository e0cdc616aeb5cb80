#include "storage/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "coordkit/error.h"

namespace coordkit::storage {
namespace {

constexpr mode_t kFileMode = 0640;
constexpr mode_t kDirectoryMode = 0750;

class PosixFile final : public File {
 public:
  PosixFile(std::string path, Descriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  absl::Status pwrite(uint64_t offset, std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t done = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return errno_status(done < 0 ? errno : EIO, "cannot write " + path_);
      offset += static_cast<uint64_t>(done);
      bytes.remove_prefix(static_cast<size_t>(done));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const override {
    std::string bytes(length, '\0');
    size_t filled = 0;
    while (filled < length) {
      const ssize_t done = ::pread(fd_.get(), bytes.data() + filled, length - filled, static_cast<off_t>(offset + filled));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return errno_status(errno, "cannot read " + path_);
      if (done == 0) break;
      filled += static_cast<size_t>(done);
    }
    bytes.resize(filled);
    return bytes;
  }

  absl::Status sync() override {
    if (::fdatasync(fd_.get()) != 0) return errno_status(errno, "cannot sync " + path_);
    return absl::OkStatus();
  }

  absl::StatusOr<uint64_t> size() const override {
    struct stat info = {};
    if (::fstat(fd_.get(), &info) != 0) return errno_status(errno, "cannot stat " + path_);
    return static_cast<uint64_t>(info.st_size);
  }

 private:
  const std::string path_;
  const Descriptor fd_;
};

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

absl::Status errno_status(int error, const std::string& what) {
  const std::string text = what + ": " + std::strerror(error);
  switch (error) {
    case ENOSPC:
    case EDQUOT: return make_error(Reason::NoSpace, text + " (free some space on this disk)");
    case EMFILE:
    case ENFILE: return make_error(Reason::LimitExceeded, text + " (raise the limit of open files)");
    case ENOENT: return make_error(Reason::NotFound, text);
    case ENOTDIR: return make_error(Reason::ForeignData, text + " (a file is in the way; choose another path)");
    case EACCES:
    case EPERM:
    case EROFS: return make_error(Reason::PermissionDenied, text + " (the process needs to read and write there)");
    default: return make_error(Reason::StorageFailed, text);
  }
}

absl::StatusOr<std::unique_ptr<PosixFileSystem>> PosixFileSystem::open(const std::string& path) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return errno_status(errno, "cannot open directory " + path);
  return std::unique_ptr<PosixFileSystem>(new PosixFileSystem(path, std::move(directory)));
}

absl::StatusOr<std::unique_ptr<File>> PosixFileSystem::open(std::string_view name, OpenMode mode) {
  // A file that is only read may belong to anyone: a pipe in its place must not block the open.
  int flags = O_CLOEXEC | (mode == OpenMode::Read ? O_RDONLY | O_NONBLOCK : O_RDWR);
  if (mode == OpenMode::CreateNew) flags |= O_CREAT | O_EXCL;
  Descriptor fd(::openat(directory_.get(), std::string(name).c_str(), flags, kFileMode));
  if (!fd) return errno_status(errno, "cannot open " + in(name));
  return std::make_unique<PosixFile>(in(name), std::move(fd));
}

absl::Status PosixFileSystem::rename(std::string_view from, std::string_view to) {
  if (::renameat(directory_.get(), std::string(from).c_str(), directory_.get(), std::string(to).c_str()) != 0) {
    return errno_status(errno, "cannot rename " + in(from) + " to " + std::string(to));
  }
  return absl::OkStatus();
}

absl::Status PosixFileSystem::remove(std::string_view name) {
  if (::unlinkat(directory_.get(), std::string(name).c_str(), 0) != 0) return errno_status(errno, "cannot remove " + in(name));
  return absl::OkStatus();
}

absl::Status PosixFileSystem::sync_dir() {
  if (::fsync(directory_.get()) != 0) return errno_status(errno, "cannot sync directory " + path_);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> PosixFileSystem::list() {
  const int copy = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return errno_status(errno, "cannot list " + path_);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), &::closedir);
  if (!stream) return errno_status(errno, "cannot list " + path_);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return errno_status(errno, "cannot list " + path_);
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<uint64_t> PosixFileSystem::free_bytes() {
  struct statvfs info = {};
  if (::fstatvfs(directory_.get(), &info) != 0) return errno_status(errno, "cannot ask for the free space of " + path_);
  return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
}

absl::Status PosixFileSystem::make_directory(std::string_view name) {
  if (::mkdirat(directory_.get(), std::string(name).c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
    return errno_status(errno, "cannot create directory " + in(name));
  }
  return sync_dir();
}

absl::Status PosixFileSystem::allocate(std::string_view name, uint64_t bytes) {
  const std::string text(name);
  const Descriptor fd(::openat(directory_.get(), text.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
  if (!fd) return errno_status(errno, "cannot create " + in(name));
  const int error = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes));
  if (error == 0) return sync_dir();
  ::unlinkat(directory_.get(), text.c_str(), 0);
  return errno_status(error, "cannot allocate " + in(name));
}

absl::Status PosixFileSystem::remove_directory(std::string_view name) {
  if (::unlinkat(directory_.get(), std::string(name).c_str(), AT_REMOVEDIR) != 0) {
    return errno_status(errno, "cannot remove directory " + in(name));
  }
  return absl::OkStatus();
}

absl::Status PosixFileSystem::lock() { return lock(LOCK_EX); }
absl::Status PosixFileSystem::lock_for_reading() { return lock(LOCK_SH); }

absl::Status PosixFileSystem::lock(int kind) {
  if (::flock(directory_.get(), kind | LOCK_NB) == 0) return absl::OkStatus();
  if (errno != EWOULDBLOCK) return errno_status(errno, "cannot lock " + path_);
  return make_error(Reason::InUse, "the data directory " + path_ +
                                       " is already open in another process (or twice in this one); a directory belongs to one "
                                       "replica at a time");
}

}  // namespace coordkit::storage

namespace coordkit {

absl::StatusOr<std::unique_ptr<FileSystem>> posix_files(const std::string& path) {
  return storage::PosixFileSystem::open(path);
}

}  // namespace coordkit

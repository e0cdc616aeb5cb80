#include "storage/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "coordkit/error.h"
#include "storage/absolute_path.h"
#include "storage/file_size_signal.h"

namespace coordkit::storage {
namespace {

constexpr mode_t kFileMode = 0640;
constexpr mode_t kDirectoryMode = 0750;

class PosixFile final : public File {
 public:
  PosixFile(std::string path, Descriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  absl::Status pwrite(uint64_t offset, std::string_view bytes) override {
    const FileSizeSignalHeld held;
    while (!bytes.empty()) {
      const auto write = [&] { return ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); };
      const ssize_t done = uninterrupted(write);
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
      const auto at = static_cast<off_t>(offset + filled);
      const ssize_t done = uninterrupted([&] { return ::pread(fd_.get(), bytes.data() + filled, length - filled, at); });
      if (done < 0) return errno_status(errno, "cannot read " + path_);
      if (done == 0) break;
      filled += static_cast<size_t>(done);
    }
    bytes.resize(filled);
    return bytes;
  }

  absl::Status sync() override {
    if (uninterrupted([this] { return ::fdatasync(fd_.get()); }) != 0) return errno_status(errno, "cannot sync " + path_);
    return absl::OkStatus();
  }

  absl::StatusOr<uint64_t> size() const override {
    struct stat info = {};
    if (::fstat(fd_.get(), &info) != 0) return errno_status(errno, "cannot stat " + path_);
    return static_cast<uint64_t>(info.st_size);
  }

  FileIdentity identity() const override {
    struct stat info = {};
    return ::fstat(fd_.get(), &info) == 0 ? FileIdentity{info.st_dev, info.st_ino} : FileIdentity();
  }

 private:
  const std::string path_;
  const Descriptor fd_;
};

// flock, for the life of the descriptor.
absl::Status take_lock(const Descriptor& fd, int kind, const std::string& path, std::string_view taken) {
  if (uninterrupted([&] { return ::flock(fd.get(), kind | LOCK_NB); }) == 0) return absl::OkStatus();
  if (errno != EWOULDBLOCK) return errno_status(errno, "cannot lock " + path);
  return make_error(Reason::InUse, std::string(taken));
}

}  // namespace

absl::Status sync_name(const std::string& path) {
  const absl::StatusOr<std::unique_ptr<PosixFileSystem>> parent =
      PosixFileSystem::open(std::filesystem::path(absolute_path(path)).parent_path());
  return parent.ok() ? (*parent)->sync_dir() : parent.status();
}

bool lacks_room(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && reason_of(status) != Reason::LimitExceeded;
}

absl::StatusOr<std::unique_ptr<PosixFileSystem>> PosixFileSystem::open(const std::string& path) {
  Descriptor directory = open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
  if (!directory) return errno_status(errno, "cannot open directory " + path);
  return std::unique_ptr<PosixFileSystem>(new PosixFileSystem(path, std::move(directory)));
}

absl::StatusOr<std::unique_ptr<File>> PosixFileSystem::open(std::string_view name, OpenMode mode) {
  // A file that is only read may belong to anyone: a pipe in its place must not block the open.
  int flags = mode == OpenMode::Read ? O_RDONLY | O_NONBLOCK : O_RDWR;
  if (mode == OpenMode::CreateNew) flags |= O_CREAT | O_EXCL;
  Descriptor fd = open_at(directory_.get(), std::string(name).c_str(), flags, kFileMode);
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
  if (uninterrupted([this] { return ::fsync(directory_.get()); }) != 0)
    return errno_status(errno, "cannot sync directory " + path_);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> PosixFileSystem::list() {
  Descriptor copy = open_at(directory_.get(), ".", O_RDONLY | O_DIRECTORY);
  if (!copy) return errno_status(errno, "cannot list " + path_);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy.get()), &::closedir);
  if (!stream) return errno_status(errno, "cannot list " + path_);
  copy.release();
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

absl::Status PosixFileSystem::room_for(uint64_t bytes) {
  const absl::StatusOr<uint64_t> free = free_bytes();
  if (!free.ok()) return free.status();
  const std::string what = "cannot write more to " + path_;
  if (*free < bytes) return errno_status(ENOSPC, what);
  const FileSizeSignalHeld held;
  const Descriptor fd = open_at(directory_.get(), ".", O_TMPFILE | O_WRONLY, kFileMode);
  const auto allocate = [&] { return ::fallocate(fd.get(), 0, 0, static_cast<off_t>(bytes)); };
  if (fd && uninterrupted(allocate) == 0) return absl::OkStatus();
  absl::Status status = errno_status(errno, what);
  return lacks_room(status) ? status : absl::OkStatus();
}

absl::Status PosixFileSystem::make_directory(std::string_view name) {
  if (::mkdirat(directory_.get(), std::string(name).c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
    return errno_status(errno, "cannot create directory " + in(name));
  }
  return sync_dir();
}

absl::Status PosixFileSystem::make_new_directory(std::string_view name) {
  if (::mkdirat(directory_.get(), std::string(name).c_str(), kDirectoryMode) == 0) return absl::OkStatus();
  if (errno == EEXIST) return make_error(Reason::AlreadyExists, in(name) + " exists already");
  return errno_status(errno, "cannot create directory " + in(name));
}

absl::Status PosixFileSystem::allocate(std::string_view name, uint64_t bytes) {
  const std::string text(name);
  const FileSizeSignalHeld held;
  const Descriptor fd = open_at(directory_.get(), text.c_str(), O_WRONLY | O_CREAT | O_EXCL, kFileMode);
  if (!fd) return errno_status(errno, "cannot create " + in(name));
  int error = EINTR;  // not by errno
  while (error == EINTR) error = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes));
  absl::Status status = error == 0 ? sync_dir() : errno_status(error, "cannot allocate " + in(name));
  if (!status.ok()) ::unlinkat(directory_.get(), text.c_str(), 0);
  return status;
}

absl::Status PosixFileSystem::remove_directory(std::string_view name) {
  if (::unlinkat(directory_.get(), std::string(name).c_str(), AT_REMOVEDIR) != 0) {
    return errno_status(errno, "cannot remove directory " + in(name));
  }
  return absl::OkStatus();
}

absl::StatusOr<FileIdentity> PosixFileSystem::identity_of(std::string_view name) const {
  struct stat info = {};
  if (::fstatat(directory_.get(), std::string(name).c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    return FileIdentity{info.st_dev, info.st_ino};
  }
  return errno_status(errno, "cannot look at " + in(name));
}

absl::Status PosixFileSystem::still_there() const {
  struct stat ours = {};
  struct stat named = {};
  const bool found = ::fstat(directory_.get(), &ours) == 0 && ::stat(path_.c_str(), &named) == 0;
  if (found && ours.st_dev == named.st_dev && ours.st_ino == named.st_ino) return absl::OkStatus();
  return make_error(Reason::StorageFailed, path_ + " is not the directory that was opened under this name any more: it was " +
                                               "moved away, removed or replaced under the running replica");
}

absl::Status PosixFileSystem::lock() { return lock(LOCK_EX); }
absl::Status PosixFileSystem::lock_for_reading() { return lock(LOCK_SH); }

absl::Status PosixFileSystem::lock(int kind) {
  return take_lock(directory_, kind, path_,
                   "the data directory " + path_ +
                       " is already open in another process, or twice in this one: a directory belongs to one replica at a "
                       "time");
}

// ---- single files

absl::StatusOr<std::unique_ptr<File>> PosixFileSystem::open_alone(std::string_view name) {
  Descriptor fd = open_at(directory_.get(), std::string(name).c_str(), O_RDWR);
  if (!fd) return errno_status(errno, "cannot open " + in(name));
  const std::string taken = in(name) + " is open already, here or in another process: share that one, or use another file";
  if (absl::Status status = take_lock(fd, LOCK_EX, in(name), taken); !status.ok()) return status;
  return std::make_unique<PosixFile>(in(name), std::move(fd));
}

// The maker of the file holds the lock of `name`.coordkit-part, a name that no file of anybody else has. A maker whose file
// lost that name before it got the lock was too late. A maker that finds a file without a lock takes over what an interrupted
// maker left.
absl::Status PosixFileSystem::make_file(std::string_view name, absl::FunctionRef<absl::Status(File&)> fill) {
  const std::string whole(name), part = whole + ".coordkit-part";
  // To the kernel it is the name of another file.
  if (whole.find('\0') != std::string::npos) return make_error(Reason::InvalidArgument, "the name of a file has no zero byte");
  Descriptor fd = open_at(directory_.get(), part.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, kFileMode);
  if (!fd) return errno_status(errno, "cannot open " + in(part));
  const std::string taken = in(part) + " is being written by another writer: wait for it, or choose another name";
  if (absl::Status status = take_lock(fd, LOCK_EX, in(part), taken); !status.ok()) return status;
  const int made = fd.get();
  if (!is_name_of(part, made)) return make_error(Reason::InUse, taken);
  PosixFile file(in(part), std::move(fd));
  absl::Status status = must_be_free(whole);
  if (status.ok() && uninterrupted([made] { return ::ftruncate(made, 0); }) != 0)
    status = errno_status(errno, "cannot truncate " + in(part));
  if (status.ok()) status = fill(file);
  if (status.ok()) status = file.sync();
  if (!is_name_of(part, made)) {
    return status.ok() ? make_error(Reason::StorageFailed, in(part) + " was removed while it was written") : status;
  }
  if (status.ok()) status = rename_to_free(part, whole);
  if (status.ok()) return sync_dir();
  remove(part).IgnoreError();  // the first error is the one to report
  return status;
}

absl::Status PosixFileSystem::must_be_free(const std::string& name) const {
  struct stat info = {};
  if (::fstatat(directory_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    return make_error(Reason::AlreadyExists, in(name) + " exists already and is never replaced; choose another name");
  }
  return errno == ENOENT ? absl::OkStatus() : errno_status(errno, "cannot look for " + in(name));
}

bool PosixFileSystem::is_name_of(const std::string& name, int fd) const {
  struct stat named = {}, opened = {};
  return ::fstatat(directory_.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(fd, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

// Where the file system cannot refuse to replace (EINVAL), a look before has to do.
absl::Status PosixFileSystem::rename_to_free(const std::string& from, const std::string& to) {
  if (::renameat2(directory_.get(), from.c_str(), directory_.get(), to.c_str(), RENAME_NOREPLACE) == 0) return absl::OkStatus();
  if (errno != EEXIST && errno != EINVAL && errno != ENOSYS) {
    return errno_status(errno, "cannot rename " + in(from) + " to " + to);
  }
  if (absl::Status status = must_be_free(to); !status.ok()) return status;
  return rename(from, to);
}

}  // namespace coordkit::storage

namespace coordkit {

absl::StatusOr<std::unique_ptr<FileSystem>> posix_files(const std::string& path) {
  return storage::PosixFileSystem::open(path);
}

}  // namespace coordkit

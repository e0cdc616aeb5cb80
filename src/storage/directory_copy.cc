#include "storage/directory_copy.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "coordkit/error.h"
#include "storage/posix_file_system.h"

namespace coordkit::storage {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLog = "log";
constexpr size_t kPieceBytes = 1 << 20;

absl::Status failed(const std::string& what, std::error_code error) {
  return errno_status(error.value(), what + " cannot be copied");
}

// A file that disappears between listing and copying was removed by the replica, or is the lock of another copy.
absl::Status copy_one(FileSystem& from, FileSystem& to, const std::string& name) {
  const absl::StatusOr<std::unique_ptr<File>> read = from.open(name, OpenMode::Read);
  if (absl::IsNotFound(read.status())) return absl::OkStatus();
  if (!read.ok()) return read.status();
  const absl::StatusOr<std::unique_ptr<File>> written = to.open(name, OpenMode::CreateNew);
  if (!written.ok()) return written.status();
  for (uint64_t at = 0;; at += kPieceBytes) {
    const absl::StatusOr<std::string> piece = (*read)->pread(at, kPieceBytes);
    if (!piece.ok()) return piece.status();
    if (absl::Status status = (*written)->pwrite(at, *piece); !status.ok()) return status;
    if (piece->size() < kPieceBytes) return absl::OkStatus();
  }
}

absl::Status copy_files(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directory(to, error);
  if (error) return failed(from, error);
  const absl::StatusOr<std::unique_ptr<PosixFileSystem>> source = PosixFileSystem::open(from);
  if (!source.ok()) return source.status();
  const absl::StatusOr<std::unique_ptr<PosixFileSystem>> target = PosixFileSystem::open(to);
  if (!target.ok()) return target.status();
  const absl::StatusOr<std::vector<std::string>> names = (*source)->list();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    std::error_code unknown;
    if (!fs::is_regular_file(from / name, unknown)) continue;
    if (absl::Status copied = copy_one(**source, **target, name); !copied.ok()) return copied;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> new_folder(const std::string& below) {
  std::string path = fs::path(below) / "coordkit-copy-XXXXXX";
  if (::mkdtemp(path.data()) != nullptr) return path;
  const std::error_code error(errno, std::generic_category());
  return make_error(Reason::StorageFailed, "a copy cannot be made in " + below + ": " + error.message());
}

}  // namespace

absl::StatusOr<DirectoryCopy> DirectoryCopy::make(const std::string& directory, const std::string& below) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return error == std::errc::permission_denied ? failed(directory, error)
                                                 : make_error(Reason::NotFound, "there is no directory " + directory);
  }
  absl::StatusOr<std::string> folder = new_folder(below);
  if (!folder.ok()) return folder.status();
  DirectoryCopy copy(*std::move(folder));
  const fs::path from(directory), to(copy.path_);
  if (absl::Status copied = copy_files(from, to); !copied.ok()) return copied;
  const absl::StatusOr<std::unique_ptr<PosixFileSystem>> source = PosixFileSystem::open(from);
  if (!source.ok()) return source.status();
  const absl::StatusOr<std::vector<std::string>> names = (*source)->list();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (!fs::is_directory(from / name, error) || name == kLog) continue;
    if (absl::Status copied = copy_files(from / name, to / name); !copied.ok()) return copied;
  }
  if (!fs::is_directory(from / kLog, error)) return copy;
  if (absl::Status copied = copy_files(from / kLog, to / kLog); !copied.ok()) return copied;
  return copy;
}

DirectoryCopy::~DirectoryCopy() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace coordkit::storage

#include "coordkit/storage/data_directory.h"

#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "coordkit/error.h"
#include "storage/absolute_path.h"
#include "storage/data_files.h"
#include "storage/identity.h"
#include "storage/posix_file_system.h"

namespace coordkit {

using storage::Identity;
using storage::kHasLog;
using storage::kReserve;
using storage::PosixFileSystem;

struct DataDirectory::Lock {
  std::unique_ptr<PosixFileSystem> files;
};

namespace {

constexpr uint64_t kReserveBytes = 4 << 20;  // an identity, a small segment with what was not synced, LMDB's lock file

absl::Status validate(const DataDirectoryOptions& options) {
  if (options.path.empty())
    return make_error(Reason::InvalidArgument, "data_dir is empty: name a directory of this replica's own");
  if (options.cluster.empty())
    return make_error(Reason::InvalidArgument, "the cluster name is empty: choose one for all members");
  if (options.cluster.size() > storage::kClusterBytesMax) {
    return make_error(Reason::InvalidArgument, "the cluster name is longer than 255 bytes: give a shorter one");
  }
  return absl::OkStatus();
}

// Whether the path is on another file system than its parent directory. That parent may be read only and know no sync. The user
// that mounts the path there sees to its name.
bool mounted(const std::string& path) {
  struct stat own = {}, parent = {};
  const std::string lies_in = std::filesystem::path(path).parent_path();
  return ::stat(path.c_str(), &own) == 0 && ::stat(lies_in.c_str(), &parent) == 0 && own.st_dev != parent.st_dev;
}

// Creates the directory itself, not its parents: a mistyped path should not silently become a blank replica elsewhere. A
// directory that exists may lack a durable name, for instance because an earlier start was killed too soon.
absl::Status create(const std::string& path) {
  const bool made = ::mkdir(path.c_str(), 0750) == 0;
  if (!made && errno != EEXIST) {
    const std::string hint = errno == ENOENT ? " (its parent does not exist: create it first)" : "";
    return errno_status(errno, "cannot create the data directory " + path + hint);
  }
  if (!made && mounted(path)) return absl::OkStatus();
  const absl::Status synced = storage::sync_name(path);
  const bool not_ours = !made && absl::IsPermissionDenied(synced);  // its parent is for others to read
  return not_ours ? absl::OkStatus() : synced;
}

// The reserve is released when the rest of this start would not find room.
absl::Status make_room(PosixFileSystem& files) {
  absl::Status room = files.room_for(kReserveBytes);
  if (room.ok() || !storage::lacks_room(room)) return room;
  const absl::Status removed = files.remove(kReserve);
  return absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

absl::StatusOr<StoreId> random_store_id() {
  for (;;) {
    uint64_t value = 0;
    const ssize_t got = ::getrandom(&value, sizeof value, 0);
    if (got < 0 && errno != EINTR) return errno_status(errno, "cannot get random bytes");
    if (got == sizeof value && value != 0) return StoreId(value);
  }
}

// The identity of this open: the stored one, checked, or a new one.
absl::StatusOr<Identity> next_identity(FileSystem& files, const DataDirectoryOptions& options) {
  absl::StatusOr<Identity> identity = storage::load_identity(files);
  if (absl::IsNotFound(identity.status())) {
    const absl::StatusOr<StoreId> store = random_store_id();
    if (!store.ok()) return store.status();
    return Identity{.store = *store, .boot = BootCounter(1), .replica = options.replica, .cluster = options.cluster};
  }
  if (!identity.ok()) return identity;
  if (identity->cluster != options.cluster) {
    return make_error(Reason::ForeignData, "the data directory " + options.path + " belongs to cluster '" + identity->cluster +
                                               "', not to '" + options.cluster +
                                               "'; correct the name of the cluster, or the path");
  }
  if (identity->replica && options.replica && identity->replica != options.replica) {
    return make_error(Reason::ForeignData, "the data directory " + options.path + " belongs to replica " +
                                               std::to_string(identity->replica.value()) + ", not to replica " +
                                               std::to_string(options.replica.value()) + "; correct the id, or the path");
  }
  if (options.replica) identity->replica = options.replica;
  identity->boot = identity->boot.next();
  return identity;
}

}  // namespace

DataDirectory::DataDirectory(DataDirectoryOptions options, std::unique_ptr<Lock> lock, StoreId store, BootCounter boot,
                             bool had_log)
    : options_(std::move(options)), lock_(std::move(lock)), store_(store), boot_(boot), had_log_(had_log) {}

DataDirectory::~DataDirectory() = default;

absl::StatusOr<std::shared_ptr<DataDirectory>> DataDirectory::open(const DataDirectoryOptions& given) {
  if (absl::Status status = validate(given); !status.ok()) return status;
  DataDirectoryOptions options = given;
  options.path = storage::absolute_path(given.path);
  if (absl::Status status = create(options.path); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(options.path);
  if (!files.ok()) return files.status();
  if (absl::Status status = (*files)->lock(); !status.ok()) return status;
  if (absl::Status status = storage::refuse_foreign_data_files(**files, options.path); !status.ok()) return status;
  absl::StatusOr<Identity> identity = next_identity(**files, options);
  if (!identity.ok()) return identity.status();
  if (absl::Status status = make_room(**files); !status.ok()) return status;
  if (absl::Status status = storage::store_identity(**files, *identity); !status.ok()) return status;
  for (const std::string_view name : {"log", "state"}) {
    if (absl::Status status = (*files)->make_directory(name); !status.ok()) return status;
  }
  const absl::Status mark = (*files)->open(kHasLog, OpenMode::Read).status();
  if (!mark.ok() && !absl::IsNotFound(mark)) return mark;
  auto lock = std::make_unique<Lock>(Lock{*std::move(files)});
  return std::shared_ptr<DataDirectory>(
      new DataDirectory(std::move(options), std::move(lock), identity->store, identity->boot, mark.ok()));
}

absl::Status DataDirectory::still_there() const { return lock_->files->still_there(); }

absl::Status DataDirectory::note_log() const {
  if (!lock_->files->open(kHasLog, OpenMode::Read).ok()) {
    absl::StatusOr<std::unique_ptr<File>> file = lock_->files->open(kHasLog, OpenMode::CreateNew);
    if (!file.ok()) return file.status();
    if (absl::Status status = (*file)->sync(); !status.ok()) return status;
  }
  return lock_->files->sync_dir();  // that of an earlier call may have failed
}

// A smaller one is what a kill left between its name and its blocks.
absl::Status DataDirectory::keep_reserve() const {
  absl::StatusOr<std::unique_ptr<File>> reserve = lock_->files->open(kReserve, OpenMode::Read);
  if (reserve.ok()) {
    const absl::StatusOr<uint64_t> bytes = (*reserve)->size();
    if (!bytes.ok() || *bytes >= kReserveBytes) return bytes.status();
    if (absl::Status removed = lock_->files->remove(kReserve); !removed.ok()) return removed;
  }
  return lock_->files->allocate(kReserve, kReserveBytes);
}

}  // namespace coordkit

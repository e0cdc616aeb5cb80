#include "backup/offline_directory.h"

#include <utility>

#include "coordkit/error.h"
#include "storage/data_files.h"

namespace coordkit::backup {
namespace {

using storage::PosixFileSystem;

absl::Status in_use(const std::string& path) {
  return make_error(Reason::InUse, "a replica has the data directory " + path +
                                       " open, in this process or another one: stop it first, and start it again afterwards");
}

absl::Status no_identity(const std::string& path) {
  return make_error(Reason::ForeignData,
                    path + " has no identity file: it is not the data directory of a replica, or none was ever started on it");
}

// A directory that was never created is an empty log: a start creates it.
absl::StatusOr<log::Recovery> recover_log(const std::string& path, StoreId store, Index checkpointed) {
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(path);
  if (absl::IsNotFound(files.status())) return log::Recovery{};
  if (!files.ok()) return files.status();
  return log::recover(**files, store, checkpointed);
}

}  // namespace

absl::StatusOr<std::unique_ptr<OfflineDirectory>> OfflineDirectory::open(const std::string& path, Payloads payloads) {
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(path);
  if (!files.ok()) return files.status();
  if (absl::Status status = (*files)->lock_for_reading(); !status.ok()) {
    return reason_of(status) == Reason::InUse ? in_use(path) : status;
  }
  absl::StatusOr<storage::Identity> identity = storage::load_identity(**files);
  const absl::Status foreign = storage::refuse_foreign_data_files(**files, path);
  const bool readable = foreign.ok() || reason_of(foreign) == Reason::ForeignData;
  if (readable && absl::IsNotFound(identity.status())) return no_identity(path);
  if (!foreign.ok()) return foreign;
  if (!identity.ok()) return identity.status();
  std::unique_ptr<OfflineDirectory> directory(new OfflineDirectory(path, *std::move(files), *std::move(identity)));
  if (absl::Status status = directory->read(payloads); !status.ok()) return status;
  return directory;
}

absl::Status OfflineDirectory::read(Payloads payloads) {
  const absl::Status mark = lock_->open(storage::kHasLog, OpenMode::Read).status();
  if (!mark.ok() && !absl::IsNotFound(mark)) return mark;
  had_log_ = mark.ok();
  checkpoint_ = storage::OfflineCheckpoint::open(path_ + "/state", identity_.store);
  const bool leave_out = payloads == Payloads::AboveCheckpoint && checkpoint_.ok();
  log_ = recover_log(path_ + "/log", identity_.store, leave_out ? (*checkpoint_)->applied().index : Index());
  return absl::OkStatus();
}

RecoveredLog OfflineDirectory::recovered() const {
  RecoveredLog found{.store = identity_.store,
                     .boot = identity_.boot,
                     .hard_state = log_->state.hard_state,
                     .base = log_->state.base,
                     .peers = log_->peers.value_or(std::vector<PeerMark>()),
                     .had_log = had_log_};
  for (const log::Slot& slot : log_->slots) {
    if (slot.entry) {
      found.entries.push_back(*slot.entry);
    } else {
      found.damaged.push_back({slot.index, slot.term, slot.content_sum});
    }
  }
  return found;
}

}  // namespace coordkit::backup

#include "backup/new_directories.h"

#include <algorithm>
#include <utility>

#include "backup/path.h"
#include "coordkit/error.h"
#include "log/log.h"
#include "storage/data_files.h"
#include "storage/posix_file_system.h"
#include "storage/state/checkpoint_writer.h"

namespace coordkit::backup {
namespace {

using storage::PosixFileSystem;

// Removes the directory with all contents. Only for directories that were created here.
absl::Status remove_tree(PosixFileSystem& parent, const std::string& path, const std::string& name) {
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> tree = PosixFileSystem::open(path + "/" + name);
  if (!tree.ok()) return tree.status();
  const absl::StatusOr<std::vector<std::string>> names = (*tree)->list();
  if (!names.ok()) return names.status();
  for (const std::string& one : *names) {
    absl::Status removed = (*tree)->remove(one);
    if (!removed.ok()) removed = remove_tree(**tree, path + "/" + name, one);
    if (!removed.ok()) return removed;
  }
  return parent.remove_directory(name);
}

absl::Status must_be_empty(const std::string& path) {
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(path);
  if (absl::IsNotFound(files.status())) return absl::OkStatus();
  if (!files.ok()) return files.status();
  const absl::StatusOr<std::vector<std::string>> names = (*files)->list();
  if (!names.ok()) return names.status();
  if (names->empty()) return absl::OkStatus();
  return make_error(Reason::AlreadyExists,
                    path + " is not empty: a new replica needs a directory of its own; choose another name");
}

absl::Status in_the_way(const std::string& path) {
  return make_error(Reason::AlreadyExists, path + " is in the way: another restore is making it, or was interrupted while it " +
                                               "did; if none is running, remove it and try again");
}

absl::Status start_log(const DataDirectory& directory, Position applied) {
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(directory.log_path());
  if (!files.ok()) return files.status();
  absl::StatusOr<log::OpenedLog> opened = log::Log::open(**files, {.store = directory.store()});
  if (!opened.ok()) return opened.status();
  const LogWrite begin{
      .number = WriteNumber(1), .hard_state = raft::HardState{.term = applied.term, .vote = {}}, .reset_to = applied};
  log::Log& log = *opened->log;
  absl::Status status = log.append({&begin, 1});
  if (status.ok()) status = log.sync();
  if (status.ok()) status = log.append_mark();
  if (status.ok()) status = log.sync();
  if (status.ok()) status = directory.note_log();
  return status;
}

}  // namespace

NewDirectories::~NewDirectories() {
  if (published_) return;
  for (Made& made : made_) {
    made.directory.reset();
    absl::StatusOr<std::unique_ptr<PosixFileSystem>> parent = PosixFileSystem::open(made.parent);
    if (parent.ok()) remove_tree(**parent, made.parent, made.renamed ? made.name : made.unfinished).IgnoreError();
  }
}

absl::Status NewDirectories::create(const std::vector<NewMember>& members, const std::string& cluster) {
  for (const NewMember& member : members) {
    if (absl::Status status = create_one(member, cluster); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status NewDirectories::create_one(const NewMember& member, const std::string& cluster) {
  SplitPath path = split_path(member.directory);
  if (path.name.empty()) return make_error(Reason::InvalidArgument, "'" + member.directory + "' names no directory to make");
  if (absl::Status status = storage::refuse_in_data_directory(member.directory); !status.ok()) return status;
  if (absl::Status status = must_be_empty(member.directory); !status.ok()) return status;
  const std::string unfinished = path.name + ".restoring", whole_path = path.parent + "/" + unfinished;
  absl::StatusOr<std::unique_ptr<PosixFileSystem>> parent = PosixFileSystem::open(path.parent);
  if (!parent.ok()) return parent.status();
  const absl::Status created = (*parent)->make_new_directory(unfinished);
  if (absl::IsAlreadyExists(created)) return in_the_way(whole_path);
  if (!created.ok()) return created;
  made_.push_back({.member = member, .parent = path.parent, .name = path.name, .unfinished = unfinished, .directory = nullptr});
  auto directory = DataDirectory::open({.path = whole_path, .cluster = cluster, .replica = ReplicaId(member.id)});
  if (!directory.ok()) return directory.status();
  made_.back().directory = *std::move(directory);
  return absl::OkStatus();
}

raft::Configuration NewDirectories::voters() const {
  raft::Configuration configuration;
  for (const Made& made : made_) {
    configuration.voters.push_back({ReplicaId(made.member.id), made.directory->store(), made.member.address});
  }
  std::ranges::sort(configuration.voters, {}, &raft::Member::id);
  return configuration;
}

std::vector<StoreId> NewDirectories::stores() const {
  std::vector<StoreId> stores;
  for (const Made& made : made_) stores.push_back(made.directory->store());
  return stores;
}

absl::Status NewDirectories::fill(const CheckpointBatch& whole) {
  for (const Made& made : made_) {
    const DataDirectory& directory = *made.directory;
    if (absl::Status status = storage::write_checkpoint(directory.state_path(), directory.store(), whole); !status.ok()) {
      return status;
    }
    if (absl::Status status = start_log(directory, whole.applied); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status NewDirectories::publish() {
  for (Made& made : made_) {
    absl::StatusOr<std::unique_ptr<PosixFileSystem>> parent = PosixFileSystem::open(made.parent);
    if (!parent.ok()) return parent.status();
    if (absl::Status status = (*parent)->rename(made.unfinished, made.name); !status.ok()) return status;
    made.renamed = true;
    if (absl::Status status = (*parent)->sync_dir(); !status.ok()) return status;
  }
  published_ = true;
  return absl::OkStatus();
}

}  // namespace coordkit::backup

#include "backup/restore.h"

#include <utility>

#include "absl/container/btree_set.h"
#include "backup/backup_file.h"
#include "backup/new_cluster.h"
#include "backup/new_directories.h"
#include "backup/path.h"
#include "base/problems.h"
#include "coordkit/error.h"
#include "raft/log/entry_codec.h"
#include "storage/identity.h"

namespace coordkit::backup {
namespace {

CheckpointBatch whole_of(RowsByKey rows, Position applied) {
  CheckpointBatch batch{.applied = applied, .rows = {}, .whole = true};
  batch.rows.reserve(rows.size());
  while (!rows.empty()) {
    auto row = rows.extract(rows.begin());
    batch.rows.push_back({std::move(row.key()), std::move(row.mapped())});
  }
  return batch;
}

// Makes two spellings of one directory comparable.
std::string spelled(const std::string& directory) {
  const SplitPath path = split_path(directory);
  return path.parent + "/" + path.name;
}

}  // namespace

absl::Status validate(const RestoreOptions& options) {
  Problems problems;
  if (options.members.empty())
    problems.add("members is empty: list one at least, with an id, an address and a directory to make");
  if (options.members.size() > kMembersMax) problems.add("members lists more than 64 replicas: list 64 at most");
  if (options.cluster.size() > storage::kClusterBytesMax) problems.add("the cluster's name is longer than 255 bytes");
  absl::btree_set<uint64_t> ids;
  absl::btree_set<std::string> addresses, directories;
  for (const NewMember& member : options.members) {
    const std::string which = "member " + std::to_string(member.id);
    if (member.id == 0) problems.add("a member has id 0: give it an id from 1 up");
    if (!ids.insert(member.id).second) problems.add(which + " is named twice");
    if (member.address.empty()) problems.add(which + " has no address: give host:port");
    if (member.address.size() > kAddressBytesMax) problems.add("the address of " + which + " is longer than 1024 bytes");
    if (!addresses.insert(member.address).second) problems.add("two members have the address " + member.address);
    if (member.directory.empty()) problems.add(which + " has no directory: name one to make");
    if (!directories.insert(spelled(member.directory)).second)
      problems.add("two members have the directory " + member.directory);
  }
  return problems.status();
}

absl::StatusOr<RestoreReport> make_cluster(PreviousState state, const RestoreOptions& options, ClusterId id) {
  if (absl::Status status = validate(options); !status.ok()) return status;
  const std::string name = options.cluster.empty() ? state.cluster : options.cluster;
  NewDirectories directories;
  if (absl::Status status = directories.create(options.members, name); !status.ok()) return status;
  const NewCluster cluster{.genesis = {.cluster = id, .token_base = options.token_base, .configuration = directories.voters()},
                           .revisions_skipped = options.revisions_skipped};
  const absl::StatusOr<Revision> revision = make_new_cluster(state.rows, state.applied, cluster);
  if (!revision.ok()) return revision.status();
  const uint64_t rows = state.rows.size();
  if (absl::Status status = directories.fill(whole_of(std::move(state.rows), state.applied)); !status.ok()) return status;
  if (absl::Status status = directories.publish(); !status.ok()) return status;
  return RestoreReport{.cluster = name,
                       .applied = state.applied,
                       .stores = directories.stores(),
                       .token_base = options.token_base,
                       .revision = *revision,
                       .rows = rows};
}

absl::StatusOr<RestoreReport> restore(const std::string& file, const RestoreOptions& options, ClusterId id) {
  if (absl::Status status = validate(options); !status.ok()) return status;
  RowsByKey rows;
  const absl::StatusOr<BackupInfo> backup = read_backup(file, [&](std::string_view key, std::string_view value) {
    rows.emplace_hint(rows.end(), key, value);
    return absl::OkStatus();
  });
  if (!backup.ok()) return backup.status();
  return make_cluster({.rows = std::move(rows), .applied = backup->applied, .cluster = backup->cluster}, options, id);
}

}  // namespace coordkit::backup

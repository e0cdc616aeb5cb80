// Backups of directories at rest, and the statements of every backup about its state.
#include "backup/backup.h"

#include <utility>

#include "backup/offline_directory.h"
#include "backup/offline_state.h"
#include "base/row_map.h"
#include "coordkit/error.h"
#include "machine/checkpoint_rows.h"

namespace coordkit {

namespace backup {

absl::StatusOr<machine::rows::Counters> counters_of(PrefixSource rows) {
  const std::string wanted = machine::rows::key(row_prefix(kCoordination), machine::rows::TableByte::Counters, 0);
  absl::StatusOr<machine::rows::Counters> counters = make_error(Reason::Corrupt, "the state has no counters of coordkit's own");
  absl::Status status = rows(wanted, [&](std::string_view key, std::string_view value) {
    if (key == wanted) counters = machine::rows::decode_counters(value);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return counters;
}

absl::StatusOr<BackupInfo> save_state(const std::string& file, BackupHeader header, PrefixSource rows, Awaited awaited) {
  const absl::StatusOr<machine::rows::Counters> counters = counters_of(rows);
  if (!counters.ok()) return counters.status();
  header.last_token = Token(counters->counter);
  header.revision = counters->keys.revision;
  return write_backup(
      file, header, [&](RowVisitor visit) { return rows("", visit); }, awaited);
}

absl::StatusOr<RowsByKey> rows_of(OfflineState& state) {
  CheckpointBatch batch;
  if (absl::Status status = state.router->whole_checkpoint(batch); !status.ok()) return status;
  RowMap rows;
  rows.perform(std::move(batch));
  return rows.rows();
}

}  // namespace backup

namespace {

using backup::OfflineDirectory;
using backup::OfflineState;

absl::Status refuse_holes(const OfflineDirectory& directory, const OfflineState& state) {
  if (!state.holes.empty()) {
    return make_error(Reason::Corrupt, "entry " + std::to_string(state.holes.front().index.value()) + " of the log in " +
                                           directory.path() +
                                           " rotted and no checkpoint covers it: back up another member, or let "
                                           "this replica run until a leader has replaced what it lacks");
  }
  if (state.floor) {
    return make_error(Reason::Corrupt, "the log in " + directory.path() + " lacks entries that it had once, up to entry " +
                                           std::to_string(state.floor->index.value()) +
                                           ": make the backup of another member, or let this replica run until a leader has "
                                           "sent them");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BackupInfo> backup_directory(const std::string& directory, const std::string& file,
                                            const BackupOptions& options) {
  const auto resting = OfflineDirectory::open(directory, OfflineDirectory::Payloads::AboveCheckpoint);
  if (!resting.ok()) return resting.status();
  absl::StatusOr<OfflineState> state = backup::state_of(**resting, options.machines);
  if (!state.ok()) return state.status();
  if (absl::Status status = refuse_holes(**resting, *state); !status.ok()) return status;
  const absl::StatusOr<RowsByKey> rows = backup::rows_of(*state);
  if (!rows.ok()) return rows.status();
  const storage::Identity& identity = (*resting)->identity();
  return backup::save_state(
      file,
      {.cluster = identity.cluster,
       .replica = identity.replica,
       .store = identity.store,
       .applied = state->at(),
       .digest = digest_of(*rows)},
      [&](std::string_view prefix, backup::RowVisitor visit) { return scan_prefix(*rows, prefix, visit); },
      [&] { return !options.awaited || options.awaited(); });
}

absl::StatusOr<BackupInfo> check_backup(const std::string& file) {
  return backup::read_backup(file, [](std::string_view, std::string_view) { return absl::OkStatus(); });
}

}  // namespace coordkit

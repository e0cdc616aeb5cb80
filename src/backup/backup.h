// The common part of all backups: the rows of a state, and the statements about its counters.
#pragma once

#include "absl/status/statusor.h"
#include "backup/backup_file.h"
#include "backup/offline_state.h"
#include "base/row_map.h"
#include "coordkit/operate/backup.h"
#include "machine/checkpoint_rows.h"

namespace coordkit::backup {

// Rows whose keys start with a prefix.
using PrefixSource = absl::FunctionRef<absl::Status(std::string_view prefix, RowVisitor visit)>;

// The counters of coordkit's own machine. kDataLoss: there are none.
absl::StatusOr<machine::rows::Counters> counters_of(PrefixSource rows);

// Writes `file`: `header`, to which the counters of the state are added, and its rows. Errors: those of
// write_backup(); kDataLoss also if there are no counters.
absl::StatusOr<BackupInfo> save_state(const std::string& file, BackupHeader header, PrefixSource rows, Awaited awaited);

// Every row of the state. kUnimplemented: one of the host's machines cannot write all of its rows.
absl::StatusOr<RowsByKey> rows_of(OfflineState& state);

}  // namespace coordkit::backup

// The bytes of a backup (docs/format-backup.md): a header, chunks of rows in ascending order of their keys, an end.
//
// Every chunk's sum is keyed by the header's sum and by the chunk's own place. So no chunk can be lost, doubled or moved
// unseen. The digest over all rows must be the header's. A reader expects hostile bytes: the worst result is kDataLoss.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/operate/backup.h"
#include "coordkit/ports/state_store.h"

namespace coordkit::backup {

struct BackupHeader {
  std::string cluster;
  ReplicaId replica;
  StoreId store;
  Position applied;
  uint64_t digest = 0;  // RowDigest::value() over all rows
  Token last_token;
  Revision revision;
};

std::string encode(const BackupHeader& header);

using RowVisitor = CheckpointView::Visitor;
using RowSource = absl::FunctionRef<absl::Status(RowVisitor visit)>;  // rows in ascending order of their keys
using Awaited = absl::FunctionRef<bool()>;                            // whether the caller still waits for the backup

// Writes `file`, which gets its name once it is whole and durable. A failure leaves nothing behind. Errors: kAlreadyExists.
// kFailedPrecondition (InUse): another backup to this name is being made. kDataLoss: the rows do not have the digest.
// kCancelled: `awaited`, asked before the file is begun and with each chunk, returned false.
absl::StatusOr<BackupInfo> write_backup(
    const std::string& file, const BackupHeader& header, RowSource rows, Awaited awaited = [] { return true; });
absl::Status not_awaited();

// Visits every row. The rows may be trusted only after this has returned OK.
absl::StatusOr<BackupInfo> read_backup(const std::string& file, RowVisitor visit);

}  // namespace coordkit::backup

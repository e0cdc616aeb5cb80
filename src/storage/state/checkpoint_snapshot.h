// One state of the checkpoint's file, as LmdbReader finds it (docs/format-state.md): which tree is which, and what its
// description says. Shared by the store, which is the only writer, and by tools that look at a file at rest.
#pragma once

#include <array>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/ports/file_system.h"
#include "storage/state/checkpoint_record.h"
#include "storage/state/lmdb_reader.h"

namespace coordkit::storage {

inline constexpr std::string_view kCheckpointFile = "data.mdb";
inline constexpr std::array<const char*, 3> kCheckpointTables = {"meta", "rows-a", "rows-b"};

struct CheckpointSnapshot {
  LmdbMeta meta;
  std::array<LmdbTree, 3> trees;  // in the order of kCheckpointTables
  Checkpoint checkpoint;

  const LmdbTree& rows(RowTable table) const { return trees[1 + static_cast<size_t>(table)]; }
  const LmdbTree& live() const { return rows(checkpoint.live); }
};

// kNotFound: the tables were never made. kFailedPrecondition: another database. kDataLoss.
absl::StatusOr<CheckpointSnapshot> read_snapshot(const LmdbReader& reader, LmdbMeta meta);

// Verifies every page of every table, every live row's sum, and the digest over them.
absl::Status verify_snapshot(const LmdbReader& reader, const CheckpointSnapshot& snapshot, StoreId store,
                             LmdbReader::Pace pace);

// Live rows from the first at or after `from` as long as `more` holds; each is verified against its sum.
absl::Status scan_live(const LmdbReader& reader, const CheckpointSnapshot& snapshot, std::string_view from,
                       absl::FunctionRef<bool(std::string_view key)> more, CheckpointView::Visitor visit);

absl::Status foreign_checkpoint();  // kFailedPrecondition
// kFailedPrecondition: the state directory holds a file that is not ours.
absl::Status refuse_foreign_state_files(FileSystem& files);

// The first key that can be in a range; empty: any.
std::string first_key(const KeyRange& range);

}  // namespace coordkit::storage

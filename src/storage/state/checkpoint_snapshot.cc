#include "storage/state/checkpoint_snapshot.h"

#include <algorithm>
#include <string>
#include <vector>

#include "coordkit/error.h"

namespace coordkit::storage {

absl::Status foreign_checkpoint() {
  return make_error(Reason::ForeignData, "the state directory holds a foreign LMDB database");
}

absl::Status refuse_foreign_state_files(FileSystem& files) {
  constexpr std::array<std::string_view, 5> kOurs = {kCheckpointFile, "data.mdb-lock", "data.new", "data.new-lock", "lock.mdb"};
  absl::StatusOr<std::vector<std::string>> names = files.list();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (std::ranges::find(kOurs, name) != kOurs.end()) continue;
    return make_error(Reason::ForeignData, "the state directory holds '" + name + "', which is not coordkit's; move it away");
  }
  return absl::OkStatus();
}

absl::StatusOr<CheckpointSnapshot> read_snapshot(const LmdbReader& reader, LmdbMeta meta) {
  CheckpointSnapshot found{.meta = meta, .trees = {}, .checkpoint = {}};
  size_t tables = 0;
  absl::Status status = reader.tables(meta, [&](std::string_view name, const LmdbTree& tree) -> absl::Status {
    const auto known = std::ranges::find(kCheckpointTables, name);
    if (known == kCheckpointTables.end()) return foreign_checkpoint();
    if (tree.flags != 0) return rotten("a table is of another kind");
    found.trees[static_cast<size_t>(known - kCheckpointTables.begin())] = tree;
    ++tables;
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  if (tables == 0) return absl::NotFoundError("there are no tables");
  if (tables != kCheckpointTables.size()) return foreign_checkpoint();
  bool described = false;
  const auto its_key = [](std::string_view key) { return key == kCheckpointKey; };
  status = reader.scan(meta, found.trees[0], kCheckpointKey, its_key, [&](std::string_view, std::string_view stored) {
    described = true;
    const absl::StatusOr<Checkpoint> checkpoint = decode_checkpoint(stored);
    if (checkpoint.ok()) found.checkpoint = *checkpoint;
    return checkpoint.status();
  });
  if (!status.ok()) return status;
  if (!described) return rotten("its description is missing");
  return found;
}

// Rows other than the live ones were staged by an earlier process, or are left over from an install.
absl::Status verify_snapshot(const LmdbReader& reader, const CheckpointSnapshot& snapshot, StoreId store,
                             LmdbReader::Pace pace) {
  if (snapshot.checkpoint.store != store) {
    return make_error(Reason::ForeignData, "the state directory belongs to another data directory");
  }
  RowDigest digest;
  const size_t live = 1 + static_cast<size_t>(snapshot.checkpoint.live);
  const std::vector<LmdbTree> trees(snapshot.trees.begin(), snapshot.trees.end());
  const auto look = [&](size_t table, std::string_view key, std::string_view stored) -> absl::Status {
    if (table != live) return absl::OkStatus();
    const absl::StatusOr<StoredValue> row = verified(key, stored);
    if (!row.ok()) return row.status();
    digest.add(key, row->sum);
    return absl::OkStatus();
  };
  if (absl::Status status = reader.check_all(snapshot.meta, trees, look, pace); !status.ok()) return status;
  return digest == snapshot.checkpoint.digest ? absl::OkStatus() : rotten("its rows do not match its digest");
}

absl::Status scan_live(const LmdbReader& reader, const CheckpointSnapshot& snapshot, std::string_view from,
                       absl::FunctionRef<bool(std::string_view key)> more, CheckpointView::Visitor visit) {
  return reader.scan(snapshot.meta, snapshot.live(), from, more,
                     [&](std::string_view key, std::string_view stored) -> absl::Status {
                       const absl::StatusOr<StoredValue> row = verified(key, stored);
                       return row.ok() ? visit(key, row->value) : row.status();
                     });
}

// Nothing sorts between a key and the same with one zero byte more.
std::string first_key(const KeyRange& range) { return range.after.empty() ? "" : range.after + '\0'; }

}  // namespace coordkit::storage

// A peer's rows in the spare table. No row of it is part of the state before install(), and none survives an open. Each is
// stored with its sum and verified once more before it is installed.
#include "coordkit/error.h"
#include "storage/state/lmdb_table.h"

namespace coordkit::storage {

// How much one transaction may still do. Rows count too: small ones cost more than their bytes.
class LmdbTable::StepBudget {
 public:
  explicit StepBudget(size_t bytes) : bytes_(bytes) {}
  bool left() const { return spent_ < bytes_; }
  void spend(size_t bytes) { spent_ += bytes + kRowCost; }

 private:
  static constexpr size_t kRowCost = 256;
  const size_t bytes_;
  size_t spent_ = 0;
};

absl::StatusOr<bool> LmdbTable::erase(MDB_txn* txn, MDB_dbi table, const KeyRange& range, RowDigest& digest,
                                      StepBudget& budget) {
  const absl::StatusOr<Cursor> cursor = open_cursor(txn, table);
  if (!cursor.ok()) return cursor.status();
  const std::string from = first_key(range);
  while (budget.left()) {
    MDB_val key = to_val(from);
    MDB_val value = {};
    int error = ::mdb_cursor_get(cursor->get(), &key, &value, from.empty() ? MDB_FIRST : MDB_SET_RANGE);
    if (error == MDB_NOTFOUND || (error == 0 && !range.contains(to_view(key)))) return true;
    if (error != 0) return lmdb_status(error, "read a row");
    const absl::StatusOr<StoredValue> row = split(to_view(value));
    if (row.ok()) digest.remove(to_view(key), row->sum);  // one too short to have a sum was never staged
    budget.spend(value.mv_size);
    error = ::mdb_cursor_del(cursor->get(), 0);
    if (error != 0) return lmdb_status(error, "erase a row");
  }
  return false;
}

// Checks what a transaction on the spare table is going to read there.
absl::Status LmdbTable::check_spare(const std::string* erased_from, std::span<const CheckpointBatch::Row> added) const {
  const absl::StatusOr<CheckpointSnapshot> now = newest();
  if (!now.ok()) return now.status();
  if (absl::Status status = reader_->check_base(now->meta); !status.ok()) return status;
  LmdbReader::Way way(*reader_, now->meta, now->rows(other(now->checkpoint.live)));
  if (erased_from != nullptr) {
    if (absl::Status status = way.check_erased(*erased_from, step_bytes_); !status.ok()) return status;
  }
  size_t bytes = 0;
  for (const CheckpointBatch::Row& row : added) {
    if (bytes > step_bytes_) break;
    bytes += row.value->size();
    if (absl::Status status = way.check(row.key, LmdbReader::Way::Change::Put); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LmdbTable::erase_stale() {
  return guarded([&]() -> absl::Status {
    const std::string first;
    if (absl::Status status = check_spare(&first, {}); !status.ok()) return status;
    return erase_step();
  });
}

absl::Status LmdbTable::erase_step() {
  bool all = false;
  const absl::Status status = change([&](MDB_txn* txn) -> absl::Status {
    const absl::StatusOr<Checkpoint> meta = checkpoint(txn);
    if (!meta.ok()) return meta.status();
    RowDigest nobodys;
    StepBudget budget(step_bytes_);
    const absl::StatusOr<bool> erased = erase(txn, rows(other(meta->live)), {}, nobodys, budget);
    if (!erased.ok()) return erased.status();
    all = *erased;
    return absl::OkStatus();
  });
  if (status.ok() && all) spare_ = Spare::Empty;
  return status;
}

absl::Status LmdbTable::stage(const KeyRange& range, std::span<const CheckpointBatch::Row> chunk) {
  return guarded([&] { return stage_checked(range, chunk); });
}

// A step that fails leaves the digest as it was after the previous step, so that the same call can be repeated.
absl::Status LmdbTable::stage_checked(const KeyRange& range, std::span<const CheckpointBatch::Row> chunk) {
  spare_ = Spare::Staged;
  Staging staging{.range = range, .chunk = chunk};
  while (!staging.cleared || !staging.chunk.empty()) {
    const std::string from = first_key(range);
    if (absl::Status status = check_spare(staging.cleared ? nullptr : &from, staging.chunk); !status.ok()) return status;
    if (absl::Status status = stage_step(staging); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LmdbTable::stage_step(Staging& staging) {
  bool cleared = false;
  std::span<const CheckpointBatch::Row> chunk;
  RowDigest digest;
  const absl::Status status = change([&](MDB_txn* txn) -> absl::Status {
    cleared = staging.cleared;
    chunk = staging.chunk;
    digest = staged_;
    const absl::StatusOr<Checkpoint> meta = checkpoint(txn);
    if (!meta.ok()) return meta.status();
    const MDB_dbi table = rows(other(meta->live));
    StepBudget budget(step_bytes_);
    if (!cleared) {
      const absl::StatusOr<bool> erased = erase(txn, table, staging.range, digest, budget);
      if (!erased.ok()) return erased.status();
      cleared = *erased;
    }
    const absl::StatusOr<Cursor> cursor = open_cursor(txn, table);
    if (!cursor.ok()) return cursor.status();
    for (; cleared && !chunk.empty() && budget.left(); chunk = chunk.subspan(1)) {
      const CheckpointBatch::Row& row = chunk.front();
      if (absl::Status put = put_row(cursor->get(), row.key, *row.value, digest); !put.ok()) return put;
      budget.spend(row.value->size());
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  staging.cleared = cleared;
  staging.chunk = chunk;
  staged_ = digest;
  return absl::OkStatus();
}

absl::StatusOr<LmdbTable::Fit> LmdbTable::verify_staged(uint64_t digest) const {
  if (staged_.value() != digest) return Fit::Refused;
  const absl::StatusOr<CheckpointSnapshot> now = newest();
  if (!now.ok()) return now.status();
  RowDigest on_disk;
  const auto every_key = [](std::string_view) { return true; };
  const auto look = [&](std::string_view key, std::string_view stored) -> absl::Status {
    const absl::StatusOr<StoredValue> row = verified(key, stored);
    if (!row.ok()) return row.status();
    on_disk.add(key, row->sum);
    return absl::OkStatus();
  };
  const LmdbTree& spare = now->rows(other(now->checkpoint.live));
  const absl::Status status = reader_->scan(now->meta, spare, "", every_key, look);
  return status.ok() && on_disk == staged_ ? Fit::Fits : Fit::Refused;
}

// The staged rows are durable, each step synced them. One record makes them the state.
absl::Status LmdbTable::install(Position applied) {
  return guarded([&]() -> absl::Status {
    if (absl::Status status = check_ways({}); !status.ok()) return status;
    return install_checked(applied);
  });
}

absl::Status LmdbTable::install_checked(Position applied) {
  bool leaves_rows = false;
  const absl::Status status = change([&](MDB_txn* txn) -> absl::Status {
    absl::StatusOr<Checkpoint> meta = checkpoint(txn);
    if (!meta.ok()) return meta.status();
    leaves_rows = meta->digest.rows != 0;
    meta->live = other(meta->live);
    meta->applied = applied;
    meta->origin = StateOrigin::Peer;
    meta->digest = staged_;
    return put_checkpoint(txn, *meta);
  });
  if (!status.ok()) return status;
  spare_ = leaves_rows ? Spare::Stale : Spare::Empty;
  staged_ = {};
  return absl::OkStatus();
}

void LmdbTable::unstage() {
  if (spare_ == Spare::Staged) spare_ = Spare::Stale;
  staged_ = {};
}

}  // namespace coordkit::storage

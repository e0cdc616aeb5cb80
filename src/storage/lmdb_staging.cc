// A peer's rows in the spare table. No row of it is part of the state before install(), and none survives an open. Each is
// stored with its sum and verified once more before it is installed.
#include "storage/lmdb_table.h"

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

absl::Status LmdbTable::erase_stale() {
  absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, Transaction::Access::Write);
  if (!transaction.ok()) return transaction.status();
  const absl::StatusOr<Checkpoint> meta = checkpoint(transaction->get());
  if (!meta.ok()) return meta.status();
  RowDigest nobodys;
  StepBudget budget(step_bytes_);
  const absl::StatusOr<bool> erased = erase(transaction->get(), rows(other(meta->live)), {}, nobodys, budget);
  if (!erased.ok()) return erased.status();
  if (absl::Status status = transaction->commit(); !status.ok()) return status;
  if (*erased) spare_ = Spare::Empty;
  return absl::OkStatus();
}

absl::Status LmdbTable::stage(const KeyRange& range, std::span<const CheckpointBatch::Row> chunk) {
  bool cleared = false;
  size_t done = 0;
  spare_ = Spare::Staged;
  while (!cleared || done < chunk.size()) {
    absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, Transaction::Access::Write);
    if (!transaction.ok()) return transaction.status();
    const absl::StatusOr<Checkpoint> meta = checkpoint(transaction->get());
    if (!meta.ok()) return meta.status();
    const MDB_dbi table = rows(other(meta->live));
    StepBudget budget(step_bytes_);
    if (!cleared) {
      const absl::StatusOr<bool> erased = erase(transaction->get(), table, range, staged_, budget);
      if (!erased.ok()) return erased.status();
      cleared = *erased;
    }
    for (; cleared && done < chunk.size() && budget.left(); ++done) {
      const CheckpointBatch::Row& row = chunk[done];
      const uint64_t sum = value_sum(row.key, *row.value);
      if (absl::Status status = put_row(transaction->get(), table, row.key, sum, *row.value); !status.ok()) return status;
      staged_.add(row.key, sum);
      budget.spend(row.value->size());
    }
    if (absl::Status status = transaction->commit(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LmdbTable::verify_staged(uint64_t digest) const {
  if (staged_.value() != digest) return absl::DataLossError("the staged rows are not those of the digest; fetch them again");
  const absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, Transaction::Access::Read);
  if (!transaction.ok()) return transaction.status();
  const absl::StatusOr<Checkpoint> meta = checkpoint(transaction->get());
  if (!meta.ok()) return meta.status();
  const absl::StatusOr<RowDigest> on_disk = verified_digest(transaction->get(), rows(other(meta->live)));
  if (!on_disk.ok()) return on_disk.status();
  if (*on_disk != staged_) return absl::DataLossError("the staged rows are rotten; fetch them again");
  return absl::OkStatus();
}

// The staged rows are durable, each step synced them. One record makes them the state.
absl::Status LmdbTable::install(Position applied) {
  absl::StatusOr<Transaction> transaction = Transaction::begin(environment_, Transaction::Access::Write);
  if (!transaction.ok()) return transaction.status();
  absl::StatusOr<Checkpoint> meta = checkpoint(transaction->get());
  if (!meta.ok()) return meta.status();
  const bool leaves_rows = meta->digest.rows != 0;
  meta->live = other(meta->live);
  meta->applied = applied;
  meta->digest = std::exchange(staged_, {});
  if (absl::Status status = put_checkpoint(transaction->get(), *meta); !status.ok()) return status;
  if (absl::Status status = transaction->commit(); !status.ok()) return status;
  spare_ = leaves_rows ? Spare::Stale : Spare::Empty;
  return absl::OkStatus();
}

void LmdbTable::unstage() {
  if (spare_ == Spare::Staged) spare_ = Spare::Stale;
  staged_ = {};
}

}  // namespace coordkit::storage

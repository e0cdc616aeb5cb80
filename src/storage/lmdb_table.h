// The checkpoint as rows in one LMDB environment: what is written, and how it is verified, without threads
// (docs/format-state.md). The digest over all rows is kept up to date by each write, from the row it replaces.
//
// There are two tables of rows, and the checkpoint's record names the live one. A peer's rows are staged in the other, the
// spare one, in transactions of bounded size; installing them changes the record alone. The spare table is emptied in steps
// as small, after an install and at open, so that it never holds back a commit for long.
#pragma once

#include <lmdb.h>

#include <array>
#include <memory>
#include <span>
#include <string>

#include "coordkit/state_store.h"
#include "storage/checkpoint_record.h"
#include "storage/lmdb_transaction.h"

namespace coordkit::storage {

class LmdbTable : public std::enable_shared_from_this<LmdbTable> {
 public:
  struct Options {
    std::string path;
    StoreId store;
    uint64_t map_bytes = 0;
    uint32_t views_max = 0;
    size_t step_bytes = 1 << 20;             // of rows staged or erased in one transaction, about
    std::shared_ptr<const void> keep_alive;  // held as long as the files are open
  };
  // Opens, clears dead readers, verifies every row and the digest.
  static absl::StatusOr<std::shared_ptr<LmdbTable>> open(const Options& options);
  ~LmdbTable();
  LmdbTable(const LmdbTable&) = delete;
  LmdbTable& operator=(const LmdbTable&) = delete;

  Position applied() const { return applied_; }  // as of open

  // One thread makes changes. Durable when it returns.
  absl::Status write(const CheckpointBatch& batch);

  // Staging (lmdb_staging.cc). Nothing can be staged while the spare table holds stale rows.
  bool stale() const { return spare_ == Spare::Stale; }
  absl::Status erase_stale();  // one step
  absl::Status stage(const KeyRange& range, std::span<const CheckpointBatch::Row> rows);
  // kDataLoss: the digest is of other rows, or a row does not match its sum any more.
  absl::Status verify_staged(uint64_t digest) const;
  absl::Status install(Position applied);  // of verified rows
  void unstage();

  // Any thread may open views.
  absl::StatusOr<std::unique_ptr<CheckpointView>> view();

 private:
  enum class Spare { Empty, Staged, Stale };
  class StepBudget;

  explicit LmdbTable(const Options& options)
      : store_(options.store), step_bytes_(options.step_bytes), keep_alive_(options.keep_alive) {}
  absl::Status open_tables();
  absl::Status verify();
  absl::StatusOr<Checkpoint> checkpoint(MDB_txn* txn) const;
  absl::Status put_checkpoint(MDB_txn* txn, const Checkpoint& checkpoint);
  absl::Status write_rows(MDB_txn* txn, const CheckpointBatch& batch);
  MDB_dbi rows(RowTable table) const { return rows_[static_cast<size_t>(table)]; }
  // Erases rows of `range` and takes them off `digest`; true once there are no more.
  absl::StatusOr<bool> erase(MDB_txn* txn, MDB_dbi table, const KeyRange& range, RowDigest& digest, StepBudget& budget);

  const StoreId store_;
  const size_t step_bytes_;
  const std::shared_ptr<const void> keep_alive_;
  MDB_env* environment_ = nullptr;
  std::array<MDB_dbi, 2> rows_{};
  MDB_dbi meta_ = 0;
  Position applied_;
  Spare spare_ = Spare::Empty;
  RowDigest staged_;  // of the rows in the spare table while they are Staged
};

// The first key that can be in a range; empty: any.
std::string first_key(const KeyRange& range);
// The digest of one table's rows, each of which matches its sum; kDataLoss otherwise.
absl::StatusOr<RowDigest> verified_digest(MDB_txn* txn, MDB_dbi table);
absl::Status put_row(MDB_txn* txn, MDB_dbi table, std::string_view key, uint64_t sum, std::string_view value);

}  // namespace coordkit::storage

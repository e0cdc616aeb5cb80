// The checkpoint as rows in one LMDB environment: what is written, and how it is verified, without threads
// (docs/format-state.md). The digest over all rows is kept up to date by each write, from the row it replaces.
//
// LMDB writes, and LmdbReader reads: LMDB only sees what was checked before with plain reads, all of it at open and what a
// transaction touches before that transaction (docs/decisions/0020). kDataLoss from any call: what is stored is damaged, and
// only a new file helps (replace_with). kUnavailable: the disk is full; the same call again may succeed.
//
// There are two tables of rows, and the checkpoint's record names the live one. A peer's rows are staged in the other, the
// spare one, in transactions of bounded size; installing them changes the record alone. The spare table is emptied in steps
// as small, after an install and at open, so that it never holds back a commit for long.
#pragma once

#include <lmdb.h>

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "coordkit/ports/state_store.h"
#include "storage/file_size_signal.h"
#include "storage/state/checkpoint_record.h"
#include "storage/state/checkpoint_snapshot.h"
#include "storage/state/lmdb_files.h"
#include "storage/state/lmdb_map.h"
#include "storage/state/lmdb_reader.h"
#include "storage/state/lmdb_transaction.h"

namespace coordkit::storage {

class LmdbTable : public std::enable_shared_from_this<LmdbTable> {
 public:
  struct Options {
    std::string path;
    StoreId store;
    uint64_t map_bytes_max = 0;  // that the map grows to
    uint32_t views_max = 0;
    size_t step_bytes = 2 << 20;             // of rows staged or erased in one transaction, about
    std::shared_ptr<const void> keep_alive;  // held as long as the files are open
  };
  // Opens; verifies every page, every row and the digest, and removes dead readers.
  static absl::StatusOr<std::shared_ptr<LmdbTable>> open(const Options& options);
  // A new file with these rows alone, replacing what is there; durable when it returns. The directory may be gone.
  static absl::StatusOr<std::shared_ptr<LmdbTable>> replace_with(const Options& options, const CheckpointBatch& whole);
  ~LmdbTable();
  LmdbTable(const LmdbTable&) = delete;
  LmdbTable& operator=(const LmdbTable&) = delete;

  Position applied() const { return applied_; }  // at open

  // kDataLoss: the files were removed or truncated.
  absl::Status still_there() const { return files_.unchanged(); }

  // Changes are made by one thread. Durable on return. The map grows as far as that needs.
  absl::Status write(const CheckpointBatch& batch);

  // Staging (lmdb_staging.cc). Nothing can be staged while the spare table holds stale rows.
  bool stale() const { return spare_ == Spare::Stale; }
  absl::Status erase_stale();  // one step
  absl::Status stage(const KeyRange& range, std::span<const CheckpointBatch::Row> rows);
  // The conditions of install(): the staged rows have the digest, and match their sums.
  enum class Fit : uint8_t { Fits, Refused };
  absl::StatusOr<Fit> verify_staged(uint64_t digest) const;
  absl::Status install(Position applied);  // of verified rows
  void unstage();

  // Any thread may open views, and verify what is stored as open() does.
  absl::StatusOr<std::unique_ptr<CheckpointView>> view();
  absl::Status scrub(LmdbReader::Pace pace);

 private:
  friend class LmdbView;
  enum class Spare { Empty, Staged, Stale };
  class StepBudget;
  LmdbTable(const Options& options, std::string_view name);
  static absl::StatusOr<std::shared_ptr<LmdbTable>> open_file(const Options& options, std::string_view name);
  absl::Status start(const Options& options);
  absl::Status open_tables(bool blank);
  using InTransaction = absl::FunctionRef<absl::Status(MDB_txn*)>;
  absl::Status change(InTransaction act);
  absl::Status change_once(InTransaction act);
  absl::StatusOr<CheckpointSnapshot> newest() const;
  absl::StatusOr<Transaction> begin_read(LmdbMeta& meta) const;
  absl::Status commit(Transaction& transaction);
  template <typename Act>
  absl::Status guarded(Act act) const;

  absl::StatusOr<Checkpoint> checkpoint(MDB_txn* txn) const;
  absl::Status put_checkpoint(MDB_txn* txn, const Checkpoint& checkpoint);
  absl::Status check_ways(const CheckpointBatch& batch) const;
  absl::Status write_checked(const CheckpointBatch& batch);
  absl::Status fill(const CheckpointBatch& whole);
  absl::Status renamed(std::string data_path);
  absl::Status write_rows(MDB_txn* txn, const CheckpointBatch& batch);
  struct Staging {
    const KeyRange& range;
    std::span<const CheckpointBatch::Row> chunk;  // the rest of it
    bool cleared = false;                         // the range is empty
  };
  absl::Status stage_checked(const KeyRange& range, std::span<const CheckpointBatch::Row> rows);
  absl::Status stage_step(Staging& staging);
  absl::Status install_checked(Position applied);
  absl::Status erase_step();
  // `erased_from`: rows from there on go first; null: none.
  absl::Status check_spare(const std::string* erased_from, std::span<const CheckpointBatch::Row> added) const;
  MDB_dbi rows(RowTable table) const { return rows_[static_cast<size_t>(table)]; }
  // Erases rows of `range` and removes them from `digest`; true once none are left.
  absl::StatusOr<bool> erase(MDB_txn* txn, MDB_dbi table, const KeyRange& range, RowDigest& digest, StepBudget& budget);

  const std::string path_;
  const StoreId store_;
  const size_t step_bytes_;
  const std::shared_ptr<const void> keep_alive_;
  LmdbFiles files_;
  mutable LmdbMap map_;  // reading(): views begin in const members
  std::unique_ptr<LmdbReader> reader_;
  MDB_env* environment_ = nullptr;
  mutable std::atomic<bool> asserted_{false};
  std::array<MDB_dbi, 2> rows_{};
  MDB_dbi meta_ = 0;
  Position applied_;
  Spare spare_ = Spare::Empty;
  RowDigest staged_;  // of the rows in the spare table while they are Staged
};

// Rows in the order of their keys are next to each other, and the cursor is there already: with 65,536 of them that is a
// third of the work. The digest goes along; put_row() takes nothing from it, for a row that was not there.
absl::Status write_row(MDB_cursor* cursor, const CheckpointBatch::Row& row, RowDigest& digest);
absl::Status put_row(MDB_cursor* cursor, std::string_view key, std::string_view value, RowDigest& digest);

// Turns LMDB's assertions into statuses, and leaves a file alone that was exchanged.
template <typename Act>
absl::Status LmdbTable::guarded(Act act) const {
  if (asserted_) return rotten("LMDB gave up on it");
  const FileSizeSignalHeld held;
  if (absl::Status status = files_.unchanged(); !status.ok()) return status;
  try {
    return act();
  } catch (const LmdbAssertion& assertion) {
    return rotten(std::string("LMDB gave up on it: ") + assertion.what());
  }
}

}  // namespace coordkit::storage

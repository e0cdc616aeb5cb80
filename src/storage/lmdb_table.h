// The checkpoint as rows in one LMDB environment: what the bytes are and how they are verified, without threads
// (docs/format-state.md). The digest over all rows is kept up to date by each write, from the row it replaces.
#pragma once

#include <lmdb.h>

#include <memory>
#include <string>

#include "base/row_map.h"
#include "base/row_sums.h"
#include "coordkit/state_store.h"

namespace coordkit::storage {

// The row about all others.
struct Checkpoint {
  StoreId store;
  Position applied;
  RowDigest digest;
};

std::string encode(const Checkpoint& checkpoint);
absl::StatusOr<Checkpoint> decode_checkpoint(std::string_view bytes);

class LmdbTable : public std::enable_shared_from_this<LmdbTable> {
 public:
  struct Options {
    std::string path;
    StoreId store;
    uint64_t map_bytes = 0;
    uint32_t views_max = 0;
    std::shared_ptr<const void> keep_alive;  // held as long as the files are open
  };
  // Opens, clears dead readers, verifies every row and the digest.
  static absl::StatusOr<std::shared_ptr<LmdbTable>> open(const Options& options);
  ~LmdbTable();
  LmdbTable(const LmdbTable&) = delete;
  LmdbTable& operator=(const LmdbTable&) = delete;

  Position applied() const { return applied_; }      // as of open
  absl::Status write(const CheckpointBatch& batch);  // durable when it returns
  absl::Status install(Position applied, const RowsByKey& rows);
  absl::StatusOr<std::unique_ptr<CheckpointView>> view();

 private:
  explicit LmdbTable(const Options& options) : store_(options.store), keep_alive_(options.keep_alive) {}
  absl::Status open_tables();
  absl::Status verify();
  absl::StatusOr<Checkpoint> checkpoint(MDB_txn* transaction) const;
  absl::Status put_rows(MDB_txn* transaction, Position applied, const RowsByKey& rows);
  absl::Status write_rows(MDB_txn* transaction, const CheckpointBatch& batch);

  const StoreId store_;
  const std::shared_ptr<const void> keep_alive_;
  MDB_env* environment_ = nullptr;
  MDB_dbi rows_ = 0;
  MDB_dbi meta_ = 0;
  Position applied_;
};

}  // namespace coordkit::storage

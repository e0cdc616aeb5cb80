// The checkpoint of a data directory that no process has open: read with plain reads, without LMDB, changing nothing. Verified
// row by row as it is visited; verify() checks everything.
//
// Threads: one at a time. Lifetime: the caller of open() holds the directory's lock as long as this object lives.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/ports/state_store.h"
#include "storage/state/checkpoint_snapshot.h"

namespace coordkit::storage {

class OfflineCheckpoint final : public CheckpointView {
 public:
  // `path`: of the state directory. One that is missing or has no file yet is an empty checkpoint. kDataLoss,
  // kFailedPrecondition: as the store's open(); only the description was read.
  static absl::StatusOr<std::unique_ptr<OfflineCheckpoint>> open(const std::string& path, StoreId store);

  Position applied() const override { return snapshot_.checkpoint.applied; }
  bool installed() const override { return snapshot_.checkpoint.origin == StateOrigin::Peer; }
  uint64_t digest() const override { return snapshot_.checkpoint.digest.value(); }
  absl::Status scan(std::string_view prefix, Visitor visit) const override;
  absl::Status scan_range(const KeyRange& range, Visitor visit) const override;

  uint64_t rows() const { return snapshot_.checkpoint.digest.rows; }
  absl::Status verify() const;  // every page, every row's sum, the digest

 private:
  OfflineCheckpoint(std::unique_ptr<LmdbReader> reader, CheckpointSnapshot snapshot, StoreId store)
      : reader_(std::move(reader)), snapshot_(snapshot), store_(store) {}

  const std::unique_ptr<LmdbReader> reader_;  // null: nothing was ever checkpointed
  const CheckpointSnapshot snapshot_;
  const StoreId store_;
};

}  // namespace coordkit::storage

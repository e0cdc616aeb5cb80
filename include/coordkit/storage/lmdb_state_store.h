// The checkpoint on disk: a B+tree (LMDB in its default, crash-safe mode), written by one
// background thread.
//
// One transaction per batch holds the rows, the applied position and the digest of all rows, so
// they change together or not at all. Every value carries a sum keyed by its key. A peer's state is
// staged in a second table of the same file, and an install changes which of the two is live.
// Bytes: docs/format-state.md.
//
// Threads: one from open() to close().
// Lifetime: the sink must outlive close(); views may outlive the store.
// Errors: no content of the file ends the process: everything that LMDB maps was read and checked
// before (docs/decisions/0020). Damage is reported, and a whole batch makes a new file. The store
// waits for room on the disk and in the address space. Any other failure is final, and reported
// once.
// Example: tests/unit/storage/lmdb_state_store_test.cc.
#pragma once

#include <cstdint>
#include <memory>

#include "coordkit/export.h"
#include "coordkit/ports/state_store.h"
#include "coordkit/storage/data_directory.h"

namespace COORDKIT_EXPORT coordkit {

// Limits of one LmdbStateStore.
struct LmdbStateOptions {
  // The most bytes of address space, and of the file, that the checkpoint may take. Legal: 1 MiB to
  // 64 TiB. The map begins with the size of the file and is doubled whenever it is full. It needs
  // twice the state while a peer's state is taken in, and more while a view is open for long
  // (docs/format-state.md). A checkpoint beyond this fails for good (kResourceExhausted,
  // LimitExceeded). A checkpoint for which the process has no address space (ulimit -v) waits until
  // there is some.
  uint64_t map_bytes_max = uint64_t{1} << 40;
  // Views open at the same time, 1 to 10000. One more is kResourceExhausted.
  uint32_t views_max = 126;

  // OK or kInvalidArgument with a sentence that says what to change.
  absl::Status validate() const;
};

class LmdbStateStore final : public StateStore {
 public:
  // The file lies in DataDirectory::state_path(). open() checks `options`.
  explicit LmdbStateStore(std::shared_ptr<DataDirectory> directory, LmdbStateOptions options = {});
  ~LmdbStateStore() override;

  absl::StatusOr<Position> open(StateSink& sink) override;
  void commit(CheckpointBatch batch) override;
  void stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) override;
  void install(Position applied, uint64_t digest) override;
  void unstage() override;
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override;
  // Reads and verifies the whole file, pages included: see StateStore::scrub().
  absl::Status scrub(Pace pace) override;
  void close() override;  // lets running work finish, drops waiting work

 private:
  class Writer;
  const std::unique_ptr<Writer> writer_;
};

}  // namespace coordkit

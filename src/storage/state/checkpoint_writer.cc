#include "storage/state/checkpoint_writer.h"

#include <memory>

#include "coordkit/storage/lmdb_state_store.h"
#include "storage/state/lmdb_table.h"

namespace coordkit::storage {

absl::Status write_checkpoint(const std::string& state_path, StoreId store, const CheckpointBatch& whole) {
  const LmdbStateOptions usual;
  const LmdbTable::Options options{
      .path = state_path, .store = store, .map_bytes_max = usual.map_bytes_max, .views_max = usual.views_max, .keep_alive = {}};
  const absl::Status status = LmdbTable::replace_with(options, whole).status();
  return absl::IsUnavailable(status) ? absl::ResourceExhaustedError(status.message()) : status;  // no one waits for room here
}

}  // namespace coordkit::storage

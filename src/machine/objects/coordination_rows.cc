#include "machine/objects/coordination_rows.h"

#include <utility>

namespace coordkit::machine::rows {

void collect(coordination::Coordination& state, std::string_view prefix, CheckpointBatch& batch) {
  state.each_rows([&]<typename Row>(coordination::Rows<Row>& table) {
    table.collect(
        [&](auto id, const Row& row) { batch.put(key(prefix, kTableOf<Row>, id.value()), fields::encode_record(row)); },
        [&](auto id) { batch.erase(key(prefix, kTableOf<Row>, id.value())); });
  });
}

void forget_stored(coordination::Coordination& state) {
  state.each_rows([]<typename Row>(coordination::Rows<Row>& table) { table.forget_stored(); });
}

std::optional<absl::Status> restore(coordination::Coordination& state, const ParsedKey& key, std::string_view value) {
  std::optional<absl::Status> status;
  state.each_rows([&]<typename Row>(coordination::Rows<Row>& table) {
    if (kTableOf<Row> != key.table) return;
    absl::StatusOr<Row> row = fields::decode_record<Row>(value, "checkpoint row");
    status = row.ok() ? table.restore(typename Row::Key(key.id), *std::move(row)) : row.status();
  });
  return status;
}

}  // namespace coordkit::machine::rows

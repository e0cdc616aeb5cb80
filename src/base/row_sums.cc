#include "base/row_sums.h"

#include "base/sums.h"

namespace coordkit {

uint64_t value_sum(std::string_view key, std::string_view value) { return hash_bytes(value, hash_bytes(key)); }

void RowDigest::add(std::string_view key, uint64_t value_sum) {
  const uint64_t row = hash_mix(hash_bytes(key), value_sum);
  sum += row;
  exclusive_or ^= row;
  ++rows;
}

void RowDigest::remove(std::string_view key, uint64_t value_sum) {
  const uint64_t row = hash_mix(hash_bytes(key), value_sum);
  sum -= row;
  exclusive_or ^= row;
  --rows;
}

uint64_t RowDigest::value() const { return hash_mix(hash_mix(sum, exclusive_or), rows); }

absl::Status check_chunk(const KeyRange& range, std::span<const CheckpointBatch::Row> rows) {
  if (!range.upto.empty() && range.upto <= range.after)
    return absl::InvalidArgumentError("a chunk's range ends before it begins");
  std::string_view before = range.after;
  for (const CheckpointBatch::Row& row : rows) {
    if (row.key.empty() || row.key.size() > kStateKeyBytesMax) {
      return absl::InvalidArgumentError("a key of a checkpoint must have 1 to 64 bytes");
    }
    if (!range.contains(row.key)) return absl::InvalidArgumentError("a row of a chunk lies outside its range");
    if (row.key <= before) return absl::InvalidArgumentError("the rows of a chunk do not ascend");
    if (!row.value) return absl::InvalidArgumentError("a row of a chunk has no value");
    before = row.key;
  }
  return absl::OkStatus();
}

// Each part seeds the next, so no byte can move from one part to its neighbour unnoticed.
uint64_t chunk_sum(const KeyRange& range, std::span<const CheckpointBatch::Row> rows) {
  uint64_t sum = hash_bytes(range.upto, hash_bytes(range.after));
  for (const CheckpointBatch::Row& row : rows) sum = hash_bytes(*row.value, hash_bytes(row.key, sum));
  return hash_mix(sum, rows.size());
}

}  // namespace coordkit

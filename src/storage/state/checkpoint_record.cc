#include "storage/state/checkpoint_record.h"

#include <algorithm>

#include "base/fixed.h"
#include "base/sums.h"
#include "coordkit/error.h"

namespace coordkit::storage {
namespace {

constexpr uint32_t kStateVersion = 1;
constexpr size_t kRecordBytes = 64;       // version, live table, store, applied index and term, digest sum, xor, rows, sum
constexpr uint32_t kFromPeer = 1u << 31;  // beside the number of the live table

}  // namespace

absl::Status rotten(std::string_view what) {
  return make_error(Reason::Corrupt, "the checkpoint is rotten: " + std::string(what));
}

std::string encode(const Checkpoint& checkpoint) {
  std::string bytes(kRecordBytes, '\0');
  char* at = bytes.data();
  store_u32(at, kStateVersion);
  store_u32(at + 4, static_cast<uint32_t>(checkpoint.live) | (checkpoint.origin == StateOrigin::Peer ? kFromPeer : 0));
  store_u64(at + 8, checkpoint.store.value());
  store_u64(at + 16, checkpoint.applied.index.value());
  store_u64(at + 24, checkpoint.applied.term.value());
  store_u64(at + 32, checkpoint.digest.sum);
  store_u64(at + 40, checkpoint.digest.exclusive_or);
  store_u64(at + 48, checkpoint.digest.rows);
  store_u64(at + 56, hash_bytes({at, kRecordBytes - kSumBytes}, hash_bytes(kCheckpointKey)));
  return bytes;
}

absl::StatusOr<Checkpoint> decode_checkpoint(std::string_view bytes) {
  if (bytes.size() >= 4 && load_u32(bytes.data()) > kStateVersion) {
    return make_error(Reason::NewerFormat,
                      "the checkpoint was written by a newer version of coordkit: start a newer build on this directory");
  }
  if (bytes.size() != kRecordBytes) return rotten("its description has the wrong size");
  const char* at = bytes.data();
  if (load_u64(at + 56) != hash_bytes({at, kRecordBytes - kSumBytes}, hash_bytes(kCheckpointKey))) {
    return rotten("its description does not match its sum");
  }
  const uint32_t live = load_u32(at + 4) & ~kFromPeer;
  if (live > static_cast<uint32_t>(RowTable::B)) return rotten("its description names no table");
  return Checkpoint{.store = StoreId(load_u64(at + 8)),
                    .live = static_cast<RowTable>(live),
                    .applied = {Index(load_u64(at + 16)), Term(load_u64(at + 24))},
                    .digest = {load_u64(at + 32), load_u64(at + 40), load_u64(at + 48)},
                    .origin = live == load_u32(at + 4) ? StateOrigin::Own : StateOrigin::Peer};
}

void join(char* at, uint64_t sum, std::string_view value) {
  store_u64(at, sum);
  std::ranges::copy(value, at + kSumBytes);
}

absl::StatusOr<StoredValue> split(std::string_view stored) {
  if (stored.size() < kSumBytes) return rotten("a row is too short");
  return StoredValue{load_u64(stored.data()), stored.substr(kSumBytes)};
}

absl::StatusOr<StoredValue> verified(std::string_view key, std::string_view stored) {
  absl::StatusOr<StoredValue> parts = split(stored);
  if (parts.ok() && parts->sum != value_sum(key, parts->value)) return rotten("a row does not match its sum");
  return parts;
}

}  // namespace coordkit::storage

// The bytes of a checkpoint (docs/format-state.md): the record about all rows, and the prefix of each value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/ports/state_store.h"

namespace coordkit::storage {

// Which of the two row tables.
enum class RowTable : uint8_t { A, B };
constexpr RowTable other(RowTable table) { return table == RowTable::A ? RowTable::B : RowTable::A; }

// Where the checkpoint comes from: taken here, from entries of the local log, or installed with nothing committed since.
enum class StateOrigin : uint8_t { Own, Peer };

// The row that describes all others.
struct Checkpoint {
  StoreId store;
  RowTable live = RowTable::A;  // its rows are the state; those of the other one are staged or to be erased
  Position applied;
  RowDigest digest;
  StateOrigin origin = StateOrigin::Own;
};

inline constexpr std::string_view kCheckpointKey = "checkpoint";
std::string encode(const Checkpoint& checkpoint);
absl::StatusOr<Checkpoint> decode_checkpoint(std::string_view bytes);

// kDataLoss: what is stored is not what was written.
absl::Status rotten(std::string_view what);

// A value as it is stored, behind its sum.
struct StoredValue {
  uint64_t sum = 0;
  std::string_view value;
};
inline constexpr size_t kSumBytes = 8;
void join(char* at, uint64_t sum, std::string_view value);                            // kSumBytes + value.size() bytes there
absl::StatusOr<StoredValue> split(std::string_view stored);                           // trusts the sum
absl::StatusOr<StoredValue> verified(std::string_view key, std::string_view stored);  // kDataLoss if the sum does not match

}  // namespace coordkit::storage

// How much space the keys may use (docs/semantics.md S-35), and which bytes count against the limit. The limit is part of the
// replicated state, so that all replicas refuse the same commands.
#pragma once

#include <tuple>

#include "coordkit/keys/key_operations.h"
#include "coordkit/types.h"
#include "machine/result.h"

namespace coordkit::mvcc {
class Store;
}

namespace coordkit::machine {

// Bytes that the changes of all keys may weigh (mvcc::Store::weight()); zero: no limit. If it is already exceeded, every
// put is refused until a compaction has made room.
struct SetKeyQuota {
  uint64_t bytes = 0;
  static constexpr uint32_t kField = 87;  // among Request's fields, never reused
  static constexpr auto fields() { return std::tuple(&SetKeyQuota::bytes); }
  friend bool operator==(const SetKeyQuota&, const SetKeyQuota&) = default;
};

struct KeySpace {
  uint64_t weight = 0;
  uint64_t quota = 0;
  uint64_t keys = 0;
  uint64_t changes = 0;  // kept, tombstones included
  Revision revision;
  Revision compacted;
  bool sweeping = false;  // part of the compacted history still counts
  friend bool operator==(const KeySpace&, const KeySpace&) = default;

  bool fits(uint64_t growth) const { return growth == 0 || quota == 0 || (growth <= quota && weight <= quota - growth); }
};

struct State;
KeySpace space_of(const State& state);

// The most that a command may add to the weight. `store` null: as far as that is known without the state. A transaction
// counts as its heavier branch. An operation that only deletes adds nothing, because deletes must always be possible.
uint64_t growth(const PutOperation& put, const mvcc::Store* store);
uint64_t growth(const Transaction& transaction, const mvcc::Store* store);

}  // namespace coordkit::machine

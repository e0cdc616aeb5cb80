// The limit of the room that keys may take. It is decided at the start of apply, before anything is changed. The client
// predicts it from the state of its replica, before anything is sent.
#include <algorithm>

#include "machine/keys/key_space.h"
#include "machine/keys/machine_keys.h"

namespace coordkit::machine {
namespace {

// How often one command sweeps at most when there is no room otherwise: a few milliseconds.
constexpr int kSweepsForRoom = 64;

}  // namespace

uint64_t growth(const PutOperation& put, const mvcc::Store* store) {
  uint64_t value = put.value.size();
  if (put.ignore_value && store != nullptr) {
    const mvcc::Version* kept = store->find(put.key);
    value = kept == nullptr ? 0 : kept->size;
  }
  return mvcc::kChangeWeight + put.key.size() + (put.sequential ? mvcc::kSequenceDigits : 0) + value;
}

uint64_t growth(const Transaction& transaction, const mvcc::Store* store) {
  const auto of_branch = [store](const std::vector<Operation>& branch) {
    uint64_t sum = 0;
    for (const Operation& operation : branch) {
      if (const auto* put = std::get_if<PutOperation>(&operation.body)) sum += growth(*put, store);
      const auto* nested = std::get_if<std::vector<Transaction>>(&operation.body);
      if (nested != nullptr && !nested->empty()) sum += growth(nested->front(), store);
    }
    return sum;
  };
  return std::max(of_branch(transaction.then), of_branch(transaction.otherwise));
}

KeySpace space_of(const State& state) {
  const mvcc::Store& keys = state.keys;
  return {.weight = keys.weight(),
          .quota = state.key_quota,
          .keys = keys.size(),
          .changes = keys.versions(),
          .revision = keys.revision(),
          .compacted = keys.compacted(),
          .sweeping = keys.swept() < keys.compacted()};
}

// Sweeps compacted history sooner if a command needs its room. Otherwise a store that refuses everything would have no
// entries that sweep it.
bool MachineKeys::has_room(uint64_t growth) {
  for (int left = kSweepsForRoom; left > 0 && !space_of(state_).fits(growth) && space_of(state_).sweeping; --left) {
    state_.keys.sweep(kSweptPerEntry);
  }
  return space_of(state_).fits(growth);
}

Answer MachineKeys::execute(SetKeyQuota& set, ApplyStep&) {
  state_.key_quota = set.bytes;
  return Result{};
}

}  // namespace coordkit::machine

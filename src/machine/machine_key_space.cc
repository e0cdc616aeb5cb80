// Machine: the limit of the space that keys may use. Decided at the start of apply, before anything is changed; predicted by
// the client from the state of its replica.
#include <algorithm>

#include "machine/machine.h"

namespace coordkit::machine {
namespace {

// What one command sweeps at most when there is no room otherwise: a few milliseconds.
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

KeySpace Machine::key_space() const {
  const mvcc::Store& keys = state_.keys;
  return {.weight = keys.weight(),
          .quota = state_.key_quota,
          .keys = keys.size(),
          .changes = keys.versions(),
          .revision = keys.revision(),
          .compacted = keys.compacted(),
          .sweeping = keys.swept() < keys.compacted()};
}

Contents Machine::contents() const {
  return {.sessions = state_.sessions.size(),
          .leases = state_.leases.size(),
          .locks = state_.locks.names(),
          .claims = state_.locks.claims(),
          .objects = state_.coordination.records(),
          .keys = state_.keys.size(),
          .changes = state_.keys.versions(),
          .key_weight = state_.keys.weight()};
}

// Compacted history is swept sooner if its room is needed: otherwise a store that refuses everything would have no
// entries to sweep it by.
bool Machine::has_room(uint64_t growth) {
  for (int left = kSweepsForRoom; left > 0 && !key_space().fits(growth) && key_space().sweeping; --left) {
    state_.keys.sweep(kSweptPerEntry);
  }
  return key_space().fits(growth);
}

Machine::Answer Machine::execute(SetKeyQuota& set, Step&) {
  state_.key_quota = set.bytes;
  return Result{};
}

}  // namespace coordkit::machine

// The rest of the state as an operation on keys sees it (mvcc::Surroundings): leases, and locks that a condition names.
#pragma once

#include <optional>
#include <string_view>

#include "machine/state.h"
#include "mvcc/transaction.h"

namespace coordkit::machine {

// Calls `run(surroundings)`, which are valid only during the call. `held(name, token, exclusively)` says whether a lock is
// held.
template <typename Held, typename Run>
auto with_surroundings(const State& state, Held held, Run run) {
  const auto exists = [&state](LeaseId lease) { return state.lease_exists(lease); };
  const auto lock_condition = [&state, held](const Compare& compare) {
    if (compare.target == Compare::Target::LockFree) return state.locks.view().free(compare.key);
    return held(compare.key, Token(compare.number), compare.target == Compare::Target::LockHeldExclusively);
  };
  return run(mvcc::Surroundings{exists, lock_condition});
}

// Whether a lock is held with this token. `mode` is the lock table's answer; nullopt: it may be permits, a place or a claim.
inline bool meets(const State& state, std::optional<LockMode> mode, std::string_view name, Token token, bool exclusive) {
  if (!mode && !exclusive) return state.coordination.still_held(name, token);
  return mode && (!exclusive || *mode == LockMode::Exclusive);
}

}  // namespace coordkit::machine

// Conditions about coordkit's own state that a request of any machine may carry (docs/semantics.md S-54). The machine answers
// StateMachine::holds() for these bytes; the engine passes them on unread.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <variant>

#include "absl/status/statusor.h"
#include "coordkit/types.h"
#include "machine/permissions/needs.h"

namespace coordkit::machine {

// The grant with this token holds the lock: in any mode, or exclusively. In any mode, other holds of this name under this
// token also count. They are permits of the semaphore, a place inside the double barrier, and an item of the queue.
struct LockHeld {
  std::string name;
  Token token;
  bool exclusive = false;
  static constexpr uint32_t kField = 1;
  static constexpr auto fields() { return std::tuple(&LockHeld::name, &LockHeld::token, &LockHeld::exclusive); }
  friend bool operator==(const LockHeld&, const LockHeld&) = default;
};

// No grant holds the lock. There may be waiters, and a lock-delay may run.
struct LockFree {
  std::string name;
  static constexpr uint32_t kField = 20;
  static constexpr auto fields() { return std::tuple(&LockFree::name); }
  friend bool operator==(const LockFree&, const LockFree&) = default;
};

// std::monostate: a kind this version does not know; never met.
using Guard = std::variant<std::monostate, LockHeld, LockFree>;

// The rights that a remote needs for it (permissions/needs.h).
Needs needs_of(const Guard& guard);

std::string encode(const Guard& guard);
absl::StatusOr<Guard> decode_guard(std::string_view bytes);  // kDataLoss: malformed

}  // namespace coordkit::machine

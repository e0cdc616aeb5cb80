#include "machine/guard.h"

#include "machine/record_codec.h"

namespace coordkit::machine {

using namespace fields;  // the vocabulary of this file

namespace {

constexpr AnyOf kSeeLock{Right::Read, Right::Lock};

void add_guard_needs(std::monostate, Needs&) {}  // never met
void add_guard_needs(const LockHeld& held, Needs& needs) { needs.name(kSeeLock, held.name); }
void add_guard_needs(const LockFree& free, Needs& needs) { needs.name(kSeeLock, free.name); }

}  // namespace

Needs needs_of(const Guard& guard) {
  Needs needs{.verb = "write under a fence"};
  std::visit([&needs](const auto& one) { add_guard_needs(one, needs); }, guard);
  return needs;
}

// A guard that names nothing is invalid and never met.
std::string encode(const Guard& guard) {
  const auto* free = std::get_if<LockFree>(&guard);
  if (free != nullptr && free->name.empty()) return {};
  std::string encoded;
  put_alternative(encoded, guard);
  return encoded;
}

absl::StatusOr<Guard> decode_guard(std::string_view encoded) {
  Guard guard;
  if (absl::Status status = get_alternatives(encoded, absl::StatusCode::kDataLoss, "guard", guard); !status.ok()) return status;
  return guard;
}

}  // namespace coordkit::machine

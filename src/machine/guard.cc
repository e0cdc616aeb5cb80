#include "machine/guard.h"

#include "machine/record_codec.h"

namespace coordkit::machine {

using namespace fields;  // the vocabulary of this file

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

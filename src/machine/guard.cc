#include "machine/guard.h"

#include "machine/fields.h"

namespace coordkit::machine {
namespace {

using namespace fields;  // the vocabulary of this file

LockHeld read_lock_held(pbf_reader in) {
  LockHeld held;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes(1): get(in, held.name); break;
      case number(2): get(in, held.token); break;
      default: in.skip();
    }
  }
  return held;
}

}  // namespace

std::string encode(const Guard& guard) {
  std::string encoded;
  pbf_writer out(encoded);
  if (const auto* held = std::get_if<LockHeld>(&guard)) {
    pbf_writer body(out, 1);
    put_bytes(body, 1, held->name);
    put_number(body, 2, held->token);
  }
  return encoded;
}

absl::StatusOr<Guard> decode_guard(std::string_view encoded) {
  Guard guard;
  const absl::Status status = guarded(encoded, absl::StatusCode::kDataLoss, "guard", [&](pbf_reader in) {
    while (in.next()) {
      if (in.tag_and_type() == bytes(1)) {
        guard = read_lock_held(in.get_message());
      } else {
        in.skip();
      }
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return guard;
}

}  // namespace coordkit::machine

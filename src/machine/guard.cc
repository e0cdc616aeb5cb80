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
      case number(3): get(in, held.exclusive); break;
      default: in.skip();
    }
  }
  return held;
}

LockFree read_lock_free(pbf_reader in) {
  LockFree free;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes(1): get(in, free.name); break;
      default: in.skip();
    }
  }
  return free;
}

}  // namespace

std::string encode(const Guard& guard) {
  std::string encoded;
  pbf_writer out(encoded);
  if (const auto* held = std::get_if<LockHeld>(&guard)) {
    pbf_writer body(out, 1);
    put_bytes(body, 1, held->name);
    put_number(body, 2, held->token);
    put_number(body, 3, uint64_t{held->exclusive});
  } else if (const auto* free = std::get_if<LockFree>(&guard)) {
    pbf_writer body(out, 20);
    put_bytes(body, 1, free->name);
  }
  return encoded;
}

absl::StatusOr<Guard> decode_guard(std::string_view encoded) {
  Guard guard;
  const absl::Status status = guarded(encoded, absl::StatusCode::kDataLoss, "guard", [&](pbf_reader in) {
    while (in.next()) {
      switch (in.tag_and_type()) {
        case bytes(1): guard = read_lock_held(in.get_message()); break;
        case bytes(20): guard = read_lock_free(in.get_message()); break;
        default: in.skip();
      }
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return guard;
}

}  // namespace coordkit::machine

// The rows of the lock table: claims and delays.
#include <algorithm>
#include <utility>

#include "machine/lock_commands.h"
#include "machine/row_fields.h"

namespace coordkit::machine::rows {

using namespace fields;  // the vocabulary of this file

namespace {

// Exclusive is the usual mode, and is left out; any other number is no mode.
uint64_t number_of(LockMode mode) { return mode == LockMode::Exclusive ? 0 : static_cast<uint64_t>(mode); }
bool get_mode(pbf_reader& in, LockMode& mode) {
  const uint64_t value = in.get_uint64();
  mode = LockMode::Shared;
  return value == static_cast<uint64_t>(LockMode::Shared);
}

// False: no such mode.
bool read_other(pbf_reader in, lock::Wanted& other) {
  bool sound = true;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes(1): other.name = view(in); break;
      case number(2): sound = get_mode(in, other.mode) && sound; break;
      default: in.skip();
    }
  }
  return sound;
}

bool sound_name(std::string_view name) { return !name.empty() && name.size() <= kNameBytesMax; }

bool sound(const lock::ClaimView& claim) {
  const auto named = [](const lock::Wanted& other) { return sound_name(other.name); };
  return sound_name(claim.name) && std::ranges::all_of(claim.others, named) && claim.tag.size() <= kOwnerTagBytesMax &&
         claim.value.size() <= kLockValueBytesMax && claim.session && claim.since;
}

}  // namespace

std::string encode(const lock::ClaimView& claim) {
  std::string bytes;
  pbf_writer out(bytes);
  put_bytes(out, 1, claim.name);
  put_bytes(out, 2, claim.tag);
  put_bytes(out, 3, claim.value);
  put_number(out, 4, claim.session);
  put_request_id(out, 5, claim.request);
  put_number(out, 6, claim.since);
  put_duration(out, 7, claim.timeout);
  put_number(out, 20, number_of(claim.mode));
  put_duration(out, 21, claim.delay);
  put_number(out, 22, uint64_t{claim.reentrant});
  put_number(out, 23, claim.count == 1 ? 0 : claim.count);
  put_number(out, 24, claim.releases);
  for (const lock::Wanted& other : claim.others) {
    pbf_writer body(out, 25);
    put_bytes(body, 1, other.name);
    put_number(body, 2, number_of(other.mode));
  }
  put_number(out, 26, claim.block.size);
  put_number(out, 27, claim.block.last);
  put_number(out, 28, claim.block.newest);
  put_number(out, 29, uint64_t{claim.block.asked});
  return bytes;
}

absl::StatusOr<lock::ClaimView> decode_claim(std::string_view encoded) {
  lock::ClaimView claim;
  bool modes = true;
  uint64_t count = 0, reentrant = 0;
  const absl::Status status = each_field(encoded, [&](pbf_reader& in) {
    switch (in.tag_and_type()) {
      case bytes(1): claim.name = view(in); return true;
      case bytes(2): claim.tag = view(in); return true;
      case bytes(3): claim.value = view(in); return true;
      case number(4): get(in, claim.session); return true;
      case bytes(5): get(in, claim.request); return true;
      case number(6): get(in, claim.since); return true;
      case number(7): get(in, claim.timeout); return true;
      case number(20): modes = get_mode(in, claim.mode) && modes; return true;
      case number(21): get(in, claim.delay); return true;
      case number(22): get(in, reentrant); return true;
      case number(23): get(in, count); return true;
      case number(24): get(in, claim.releases); return true;
      case bytes(25):
        if (claim.others.size() == kLocksMax) return false;  // one too many already: the table refuses it
        modes = read_other(in.get_message(), claim.others.emplace_back()) && modes;
        return true;
      case number(26): get(in, claim.block.size); return true;
      case number(27): get(in, claim.block.last); return true;
      case number(28): get(in, claim.block.newest); return true;
      case number(29): get(in, claim.block.asked); return true;
      default: return false;
    }
  });
  if (!status.ok()) return status;
  if (claim.block.last.value() >= claim.block.size && claim.block.last) {
    claim.block.first = Token(claim.block.last.value() - claim.block.size + 1);
  }
  if (!modes || !sound(claim) || count > lock::kCountMax || reentrant > 1) {
    return absl::DataLossError("an impossible claim on a lock");
  }
  claim.reentrant = reentrant == 1;
  if (count != 0) claim.count = static_cast<uint32_t>(count);
  return claim;
}

std::string encode(const lock::DelayView& delay) {
  std::string bytes;
  pbf_writer out(bytes);
  put_bytes(out, 1, delay.name);
  put_duration(out, 2, delay.duration);
  return bytes;
}

absl::StatusOr<lock::DelayView> decode_delay(std::string_view encoded) {
  lock::DelayView delay;
  const absl::Status status = each_field(encoded, [&](pbf_reader& in) {
    switch (in.tag_and_type()) {
      case bytes(1): delay.name = view(in); return true;
      case number(2): get(in, delay.duration); return true;
      default: return false;
    }
  });
  if (!status.ok()) return status;
  if (!sound_name(delay.name)) return absl::DataLossError("an impossible lock-delay");
  return delay;
}

}  // namespace coordkit::machine::rows

// The rows of the lock table: claims and delays.
#include <algorithm>

#include "machine/locks/lock_commands.h"
#include "machine/row_fields.h"

namespace coordkit::machine::rows {

constexpr const char* kImpossibleClaim = "an impossible claim on a lock";

// Exclusive is the usual mode, and written as nothing. Any other number is no mode.
template <typename Io>
void claim_mode(Io& io, uint32_t number, Describes<LockMode> auto& mode) {
  std::optional<LockMode> shown;
  if constexpr (!Io::kReads) {
    if (mode != LockMode::Exclusive) shown = mode;
  }
  io.number(number, shown);
  if constexpr (Io::kReads) {
    if (!shown) return;
    codec::require(*shown == LockMode::Shared, kImpossibleClaim);
    mode = LockMode::Shared;
  }
}

// One, the usual count, is written as nothing.
template <typename Io>
void claim_count(Io& io, uint32_t number, Describes<uint32_t> auto& count) {
  uint64_t shown = count == 1 ? 0 : count;
  io.number(number, shown);
  if constexpr (Io::kReads) {
    codec::require(shown <= lock::kCountMax, kImpossibleClaim);
    count = shown == 0 ? 1 : static_cast<uint32_t>(shown);
  }
}

template <typename Io>
void claim_flag(Io& io, uint32_t number, Describes<bool> auto& flag) {
  uint64_t shown = flag ? 1 : 0;
  io.number(number, shown);
  if constexpr (Io::kReads) {
    codec::require(shown <= 1, kImpossibleClaim);
    flag = shown == 1;
  }
}

template <typename Io>
void describe(Io& io, Describes<lock::Wanted> auto& other) {
  io.bytes(1, other.name);
  claim_mode(io, 2, other.mode);
}

template <typename Io>
void describe(Io& io, Describes<lock::ClaimView> auto& claim) {
  io.bytes(1, claim.name);
  io.bytes(2, claim.tag);
  fields::texts_field(io, 3, claim.texts);
  io.number(4, claim.session);
  io.message(5, claim.request);
  io.number(6, claim.since);
  io.signed_number(7, claim.timeout);
  claim_mode(io, 20, claim.mode);
  io.signed_number(21, claim.delay);
  claim_flag(io, 22, claim.reentrant);
  claim_count(io, 23, claim.count);
  io.number(24, claim.releases);
  io.repeated_first(25, claim.others, kLocksMax);  // keeps one too many, for the table to refuse
  io.number(26, claim.block.size);
  io.number(27, claim.block.last);
  io.number(28, claim.block.newest);
  io.number(29, claim.block.asked);
}

template <typename Io>
void describe(Io& io, Describes<lock::DelayView> auto& delay) {
  io.bytes(1, delay.name);
  io.signed_number(2, delay.duration);
}

namespace {

bool valid_name(std::string_view name) { return !name.empty() && name.size() <= kNameBytesMax; }

bool fit(const HoldTextViews& texts) {
  bool all = true;
  each_hold_text([&all](const HoldText& text, std::string_view shown) { all = all && shown.size() <= text.bytes_max; }, texts);
  return all;
}

bool valid(const lock::ClaimView& claim) {
  const auto named = [](const lock::Wanted& other) { return valid_name(other.name); };
  return valid_name(claim.name) && std::ranges::all_of(claim.others, named) && claim.tag.size() <= kOwnerTagBytesMax &&
         fit(claim.texts) && claim.session && claim.since;
}

}  // namespace

std::string encode(const lock::ClaimView& claim) { return encoded(claim); }

absl::StatusOr<lock::ClaimView> decode_claim(std::string_view bytes) {
  lock::ClaimView claim;
  if (absl::Status status = read(bytes, claim); !status.ok()) return status;
  if (claim.block.last.value() >= claim.block.size && claim.block.last) {
    claim.block.first = Token(claim.block.last.value() - claim.block.size + 1);
  }
  if (!valid(claim)) return absl::DataLossError(kImpossibleClaim);
  return claim;
}

std::string encode(const lock::DelayView& delay) { return encoded(delay); }

absl::StatusOr<lock::DelayView> decode_delay(std::string_view bytes) {
  lock::DelayView delay;
  if (absl::Status status = read(bytes, delay); !status.ok()) return status;
  if (!valid_name(delay.name)) return absl::DataLossError("an impossible lock-delay");
  return delay;
}

}  // namespace coordkit::machine::rows

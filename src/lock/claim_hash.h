// The hashes of a claim and of a delay as logical rows. The table's digest is the sum over all of them. So it depends neither
// on the order of events nor on the way a claim is kept in memory.
#pragma once

#include <cstdint>

#include "base/sums.h"
#include "lock/terms.h"

namespace coordkit::lock {

// The value always counts. Any other text counts if there is one, so that digests are the same without it.
inline uint64_t hash_texts(const HoldTextViews& texts, uint64_t hash) {
  each_hold_text(
      [&hash](const HoldText& text, std::string_view shown) {
        if (text.number == 0) hash = hash_bytes(shown, hash);
        if (text.number != 0 && !shown.empty()) hash = hash_bytes(shown, hash_mix(hash, text.number));
      },
      texts);
  return hash;
}

inline uint64_t claim_hash(const ClaimView& claim) {
  uint64_t hash = claim.held() ? 0x686f6c64 : 0x77616974;
  hash = hash_bytes(claim.name, hash_mix(hash, static_cast<uint64_t>(claim.mode)));
  for (const Wanted& other : claim.others) {
    hash = hash_bytes(other.name, hash_mix(hash, static_cast<uint64_t>(other.mode)));
  }
  hash = hash_bytes(claim.tag, hash);
  hash = hash_texts(claim.texts, hash);
  const RequestId& request = claim.request;
  hash = hash_mix_all(hash, claim.session.value(), request.origin.replica.value(), request.origin.store.value(),
                      request.origin.boot.value(), request.sequence.value(), claim.since.value(), claim.token.value(),
                      static_cast<uint64_t>(claim.timeout.count()), static_cast<uint64_t>(claim.delay.count()),
                      uint64_t{claim.reentrant}, uint64_t{claim.count}, claim.releases);
  if (!claim.sticky()) return hash;
  const Block& block = claim.block;
  for (const uint64_t field :
       {block.size, block.first.value(), block.last.value(), block.newest.value(), uint64_t{block.asked}}) {
    hash = hash_mix(hash, field);
  }
  return hash;
}

inline uint64_t delay_hash(const DelayView& delay) {
  const uint64_t hash = hash_bytes(delay.name, 0x64656c61);
  return hash_mix(hash_mix(hash, delay.id), static_cast<uint64_t>(delay.duration.count()));
}

}  // namespace coordkit::lock

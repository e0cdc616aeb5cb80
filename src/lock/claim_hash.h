// The hash of one claim as a logical row. The table's digest is the sum over all claims, so it does not depend on the
// order of history.
#pragma once

#include <cstdint>

#include "base/sums.h"
#include "lock/claim.h"

namespace coordkit::lock {

inline uint64_t claim_hash(const Claim& claim) {
  uint64_t hash = claim.held() ? 0x686f6c64 : 0x77616974;
  for (const Place& place : claim.places()) hash = hash_bytes(place.lock->name.first(), hash);
  hash = hash_bytes(claim.tag(), hash);
  hash = hash_bytes(claim.value(), hash);
  const RequestId& request = claim.request;
  for (const uint64_t field :
       {claim.session.value(), request.origin.replica.value(), request.origin.store.value(), request.origin.boot.value(),
        request.sequence.value(), claim.since.value(), claim.token.value(), static_cast<uint64_t>(claim.timeout.count())}) {
    hash = hash_mix(hash, field);
  }
  return hash;
}

}  // namespace coordkit::lock

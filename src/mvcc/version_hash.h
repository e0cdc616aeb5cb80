// A change in the store's digest: every field, and to which key it belongs.
#pragma once

#include "base/sums.h"
#include "mvcc/version.h"

namespace coordkit::mvcc {

inline uint64_t hash_of(const Version& version) {
  uint64_t hash = hash_bytes(version.value(), hash_bytes(version.key(), 0x6b657973));
  for (const uint64_t field : {version.mod.value(), uint64_t{version.sub}, version.stamp.create.value(), version.stamp.version,
                               version.stamp.lease.value()}) {
    hash = hash_mix(hash, field);
  }
  return hash;
}

}  // namespace coordkit::mvcc

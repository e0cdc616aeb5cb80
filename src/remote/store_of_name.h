// The store id of a remote with a name: it follows from the remote's id and its name, so that the origins of two names are
// never the same. A session belongs to an origin, also after the origin itself was forgotten.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/sha256.h"
#include "coordkit/types.h"

namespace coordkit::remote {

inline StoreId store_of_name(ReplicaId remote, std::string_view name) {
  const Sha256 hash = sha256("coordkit remote " + std::to_string(remote.value()) + " " + std::string(name));
  uint64_t number = 0;
  for (size_t i = 0; i < sizeof number; ++i) number = number << 8 | hash[i];
  return StoreId(std::max<uint64_t>(number, 1));
}

}  // namespace coordkit::remote

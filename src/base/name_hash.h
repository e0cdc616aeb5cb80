// The hash of a name in tables of this process. It differs from run to run, so that no caller can choose names which collide.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/sums.h"

namespace coordkit {

inline uint64_t name_hash(std::string_view name) {
  static const char somewhere = 0;
  return hash_bytes(name, reinterpret_cast<uintptr_t>(&somewhere));
}

}  // namespace coordkit

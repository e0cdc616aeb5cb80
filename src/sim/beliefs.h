// What the observers of holders and keepers do with what those believe.
#pragma once

#include <cstdint>

namespace coordkit::sim {

enum class Beliefs : uint8_t {
  Judged,   // held against what was applied anywhere, in true time
  Ignored,  // they may believe what they like
};

}  // namespace coordkit::sim

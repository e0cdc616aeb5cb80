// How the observers of holders and keepers treat the beliefs of those.
#pragma once

#include <cstdint>

namespace coordkit::sim {

enum class TrustCheck : uint8_t {
  Judged,   // compared with what was applied anywhere, in true time
  Ignored,  // beliefs are not checked
};

}  // namespace coordkit::sim

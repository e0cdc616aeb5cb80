#include "replica/shell/token_base.h"

#include <algorithm>
#include <chrono>

namespace coordkit {

uint64_t calendar_token_base() {
  constexpr int64_t kYear2020 = 1'577'836'800;
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count() - kYear2020;
  return static_cast<uint64_t>(std::max<int64_t>(seconds, 0)) * kTokensPerSecond;
}

}  // namespace coordkit

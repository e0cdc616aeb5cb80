// Where the tokens of a new cluster start.
#pragma once

#include <cstdint>

namespace coordkit {

inline constexpr uint64_t kTokensPerSecond = uint64_t{1} << 31;

// Seconds since 2020-01-01 UTC times kTokensPerSecond: tokens of a rebuilt cluster are above those of the lost one. The only
// place where coordkit reads wall time, and only the initializing replica's reading counts.
uint64_t calendar_token_base();

}  // namespace coordkit

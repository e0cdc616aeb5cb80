// SHA-256 (FIPS 180-4), for the one place that needs a one-way hash: secrets of sessions, of which the replicated state keeps
// only the hash. Apply computes it, so it must give the same bytes in every build. A crypto library in the lowest floor for
// one function would cost more than these sixty lines and their published test vectors.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace coordkit {

using Sha256 = std::array<uint8_t, 32>;

Sha256 sha256(std::string_view bytes);

}  // namespace coordkit

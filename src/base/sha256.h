// SHA-256 (FIPS 180-4), for the one place that needs a hash nobody can run backwards: secrets of sessions, of which the
// replicated state keeps the hash alone. Apply computes it, so it must be the same bytes on every build; a library of
// ciphers in the lowest floor for one function would cost more than these sixty lines and their published test vectors.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace coordkit {

using Sha256 = std::array<uint8_t, 32>;

Sha256 sha256(std::string_view bytes);

}  // namespace coordkit

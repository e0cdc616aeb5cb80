// A number from the system's source of randomness, for an id that nobody else has.
#pragma once

#include <cstdint>

namespace coordkit {

uint64_t random_id();  // not zero

}  // namespace coordkit

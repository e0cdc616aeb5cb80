// A lock's name, an owner's tag, a text of a hold: 18 bytes in all, if it is as short as it nearly always is.
#pragma once

#include <cstdint>

#include "base/short_text.h"

namespace coordkit::lock {

using ShortText = coordkit::ShortText<16, uint16_t>;

}  // namespace coordkit::lock

// What replicas must set alike, as every hello carries it (proto/coordkit/v1/wire.proto, message Agreement).
// Here because engine and transport both say hello, and do not know each other.
#pragma once

#include <string>
#include <string_view>

#include "coordkit/agreement.h"

namespace coordkit {

std::string encode(const Agreement& agreement);
// Throws protozero::exception on bytes that are none.
Agreement parse_agreement(std::string_view bytes);

}  // namespace coordkit

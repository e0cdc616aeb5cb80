// Settings that must be equal on all replicas, as every hello carries them (proto/coordkit/v1/wire.proto, message Agreement).
// Here because both engine and transport say hello, and neither includes the other.
#pragma once

#include <string>
#include <string_view>

#include "coordkit/agreement.h"

namespace coordkit {

std::string encode(const Agreement& agreement);
// Throws protozero::exception on malformed bytes.
Agreement parse_agreement(std::string_view bytes);

}  // namespace coordkit

// Settings that must be equal on all replicas, as every hello carries them (proto/coordkit/v1/wire.proto, message Agreement).
// They are here because both engine and transport say hello, and neither includes the other.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coordkit/engine/agreement.h"

namespace coordkit {

std::string encode(const Agreement& agreement);
// Throws protozero::exception on malformed bytes.
Agreement parse_agreement(std::string_view bytes);

// As a field of a hello (base/field_io.h).
template <typename Io>
void agreement_field(Io& io, uint32_t number, auto& agreement) {
  std::optional<std::string> bytes;
  if constexpr (!Io::kReads) {
    if (agreement) bytes = encode(*agreement);
  }
  io.bytes(number, bytes);
  if constexpr (Io::kReads) {
    if (bytes) agreement = parse_agreement(*bytes);
  }
}

}  // namespace coordkit

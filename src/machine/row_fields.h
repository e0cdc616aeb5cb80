// What the codecs of checkpoint rows share.
#pragma once

#include <string_view>

#include "machine/fields.h"
#include "machine/rows.h"

namespace coordkit::machine::rows {

inline std::string_view view(protozero::pbf_reader& in) {
  const auto bytes = in.get_view();
  return {bytes.data(), bytes.size()};
}

// Runs over all fields of a row; `field` returns false for one it does not know.
template <typename Field>
absl::Status each_field(std::string_view encoded, Field field) {
  return fields::guarded(encoded, absl::StatusCode::kDataLoss, "checkpoint row", [&](protozero::pbf_reader in) {
    while (in.next()) {
      if (!field(in)) in.skip();
    }
    return absl::OkStatus();
  });
}

}  // namespace coordkit::machine::rows

// The helpers that the codecs of checkpoint rows share. describe() in this namespace lists the fields of each row
// (base/field_io.h). A row that finds itself invalid says so with codec::require.
#pragma once

#include <string>
#include <string_view>

#include "machine/checkpoint_rows.h"
#include "machine/record_codec.h"

namespace coordkit::machine::rows {

using codec::Describes;

struct Rules : fields::Rules {};

constexpr size_t kRowBytesUsual = 64;  // most rows are no longer than that, so they take one allocation

template <typename Row>
std::string encoded(const Row& row) {
  std::string bytes;
  bytes.reserve(kRowBytesUsual);
  codec::append<Rules>(bytes, row);
  return bytes;
}

template <typename Row>
absl::Status read(std::string_view bytes, Row& row) try {
  codec::read<Rules>(bytes, row);
  return absl::OkStatus();
} catch (const codec::Malformed& senseless) {
  return absl::DataLossError(senseless.what());
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed checkpoint row: ") + error.what());
}

}  // namespace coordkit::machine::rows

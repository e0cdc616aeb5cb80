// The helpers around protozero that the codecs of this folder use.
#pragma once

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/fields.h"

namespace coordkit::machine::fields {

using protozero::pbf_reader;
using protozero::pbf_writer;

using coordkit::fields::bytes;
using coordkit::fields::number;

// Runs `read(reader)` over hostile bytes. An error that protozero finds becomes a status of the given code.
template <typename Read>
absl::Status guarded(std::string_view bytes, absl::StatusCode code, const char* what, Read read) try {
  pbf_reader in(bytes.data(), bytes.size());
  return read(in);
} catch (const protozero::exception& error) {
  return absl::Status(code, std::string("malformed ") + what + ": " + error.what());
}

}  // namespace coordkit::machine::fields

// Messages as fields of the protobuf wire format. describe(io, message) names each field with its number, once for both
// directions: the io is a Writer or a Reader. Zero and empty fields are left out, so that equal values have equal bytes. A
// reader skips a field that it does not know, and a field with another wire type than expected.
//
// An element of a list, and an optional that is set, are written even if empty. A message() inside a message is then left
// out.
#pragma once

#include <string>
#include <string_view>

#include "base/field_reader.h"
#include "base/field_writer.h"

namespace coordkit::codec {

// Returns the bytes that `write(writer)` writes.
template <typename Rules, typename Write>
void append_by(std::string& bytes, Write write) {
  Writer<Rules> writer(bytes);
  write(writer);
}
template <typename Rules, typename M>
void append(std::string& bytes, const M& m) {
  append_by<Rules>(bytes, [&m](auto& writer) { describe(writer, m); });
}

template <typename Rules, typename M>
void read(std::string_view bytes, M& m, Budget budget = {}) {
  Reader<Rules>::read_message(protozero::pbf_reader(bytes.data(), bytes.size()), m, budget);
}

}  // namespace coordkit::codec

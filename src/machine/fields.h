// Small helpers around protozero that all codecs of this folder share. Zero and empty fields are left out, so that equal
// values have equal bytes; a field of an unexpected wire type is skipped like an unknown one.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/fields.h"
#include "coordkit/types.h"

namespace coordkit::machine::fields {

using protozero::pbf_reader;
using protozero::pbf_writer;

using coordkit::fields::bytes;
using coordkit::fields::fixed;
using coordkit::fields::number;

inline void put_number(pbf_writer& out, uint32_t field, uint64_t value) {
  if (value != 0) out.add_uint64(field, value);
}
template <typename Tag>
void put_number(pbf_writer& out, uint32_t field, Id<Tag> id) {
  put_number(out, field, id.value());
}
inline void put_fixed(pbf_writer& out, uint32_t field, uint64_t value) {
  if (value != 0) out.add_fixed64(field, value);
}
inline void put_duration(pbf_writer& out, uint32_t field, Duration value) {
  if (value != Duration::zero()) out.add_sint64(field, value.count());
}
inline void put_bytes(pbf_writer& out, uint32_t field, std::string_view value) {
  if (!value.empty()) out.add_bytes(field, value.data(), value.size());
}

template <typename Tag>
void get(pbf_reader& in, Id<Tag>& id) {
  id = Id<Tag>(in.get_uint64());
}
inline void get(pbf_reader& in, uint64_t& value) { value = in.get_uint64(); }
inline void get(pbf_reader& in, bool& value) { value = in.get_uint64() != 0; }
inline void get(pbf_reader& in, Duration& value) { value = Duration(in.get_sint64()); }
inline void get(pbf_reader& in, std::string& value) {
  const auto view = in.get_view();
  value.assign(view.data(), view.size());
}

inline void put_request_id(pbf_writer& out, uint32_t field, const RequestId& id) {
  if (id == RequestId{}) return;
  pbf_writer body(out, field);
  put_number(body, 1, id.origin.replica);
  put_fixed(body, 2, id.origin.store.value());
  put_number(body, 3, id.origin.boot);
  put_number(body, 4, id.sequence);
}
inline void get(pbf_reader& outer, RequestId& id) {
  pbf_reader in = outer.get_message();
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, id.origin.replica); break;
      case fixed(2): id.origin.store = StoreId(in.get_fixed64()); break;
      case number(3): get(in, id.origin.boot); break;
      case number(4): get(in, id.sequence); break;
      default: in.skip();
    }
  }
}

// Runs `read(reader)` over hostile bytes: any error of protozero becomes a status of the given code.
template <typename Read>
absl::Status guarded(std::string_view bytes, absl::StatusCode code, const char* what, Read read) try {
  pbf_reader in(bytes.data(), bytes.size());
  return read(in);
} catch (const protozero::exception& error) {
  return absl::Status(code, std::string("malformed ") + what + ": " + error.what());
}

}  // namespace coordkit::machine::fields

// The protobuf bytes of a record that lists its fields: fields() is a tuple of member pointers, a field's number is its place
// in it, from 1. So a field is only ever added at the end. Zero and empty fields are left out, but for a list's and an
// optional's elements; a record within a record is a message of its own. Readers take hostile bytes: an unknown field is
// skipped, an enumerator out of range stays out of range for validation to see.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "machine/fields.h"

namespace coordkit::machine::fields {

// The fields of a record: as it lists them itself, or, of a public type, as a specialisation says.
template <typename T>
struct FieldsOf;
template <typename T>
requires requires { T::fields(); }
struct FieldsOf<T> {
  static constexpr auto list() { return T::fields(); }
};
template <typename T>
concept Record = requires {
  FieldsOf<T>::list();
};
template <typename T>
concept Enumeration = std::is_enum_v<T>;

template <Record T>
void write_record(pbf_writer& out, const T& record);
template <Record T>
void read_record(pbf_reader in, T& record);

// ---- how a field of each type is written and read, and under which tag

template <typename T>
constexpr uint32_t tag_of(const T&, uint32_t number_of_field) {
  return number(number_of_field);
}
inline constexpr uint32_t tag_of(const std::string&, uint32_t field) { return bytes(field); }
inline constexpr uint32_t tag_of(const RequestId&, uint32_t field) { return bytes(field); }
template <Record T>
constexpr uint32_t tag_of(const T&, uint32_t field) {
  return bytes(field);
}
template <Record T>
constexpr uint32_t tag_of(const std::vector<T>&, uint32_t field) {
  return bytes(field);
}
template <Record T>
constexpr uint32_t tag_of(const std::optional<T>&, uint32_t field) {
  return bytes(field);
}

inline void put_field(pbf_writer& out, uint32_t field, uint64_t value) { put_number(out, field, value); }
inline void put_field(pbf_writer& out, uint32_t field, int64_t value) {
  if (value != 0) out.add_sint64(field, value);
}
inline void put_field(pbf_writer& out, uint32_t field, bool value) { put_number(out, field, uint64_t{value}); }
inline void put_field(pbf_writer& out, uint32_t field, Duration value) { put_duration(out, field, value); }
inline void put_field(pbf_writer& out, uint32_t field, const std::string& value) { put_bytes(out, field, value); }
inline void put_field(pbf_writer& out, uint32_t field, const RequestId& value) { put_request_id(out, field, value); }
inline void put_field(pbf_writer& out, uint32_t field, const std::optional<uint64_t>& value) {
  if (value) out.add_uint64(field, *value);
}
template <typename Tag>
void put_field(pbf_writer& out, uint32_t field, Id<Tag> value) {
  put_number(out, field, value);
}
template <Enumeration T>
void put_field(pbf_writer& out, uint32_t field, T value) {
  put_number(out, field, static_cast<uint64_t>(value));
}
template <Record T>
void put_field(pbf_writer& out, uint32_t field, const T& value) {
  pbf_writer body(out, field);
  write_record(body, value);
}
// Also if it is empty, where a writer inside `out` would leave it out.
template <Record T>
void put_element(pbf_writer& out, uint32_t field, const T& value) {
  std::string body;
  pbf_writer element(body);
  write_record(element, value);
  out.add_message(field, body);
}
template <Record T>
void put_field(pbf_writer& out, uint32_t field, const std::optional<T>& value) {
  if (value) put_element(out, field, *value);
}
template <Record T>
void put_field(pbf_writer& out, uint32_t field, const std::vector<T>& values) {
  for (const T& value : values) put_element(out, field, value);
}

inline void get(pbf_reader& in, int64_t& value) { value = in.get_sint64(); }
inline void get(pbf_reader& in, std::optional<uint64_t>& value) { value = in.get_uint64(); }
template <Enumeration T>
void get(pbf_reader& in, T& value) {
  static_assert(sizeof(T) == 1);
  value = T(static_cast<uint8_t>(std::min<uint64_t>(in.get_uint64(), 0xff)));
}
template <Record T>
void get(pbf_reader& in, T& value) {
  read_record(in.get_message(), value);
}
template <Record T>
void get(pbf_reader& in, std::optional<T>& value) {
  get(in, value.emplace());
}
template <typename T>
inline constexpr size_t kListMax = 10'000;  // of records within a record; more are malformed
template <Record T>
void get(pbf_reader& in, std::vector<T>& values) {
  if (values.size() == kListMax<T>) throw protozero::invalid_length_exception();
  get(in, values.emplace_back());
}

// ---- whole records

template <Record T>
void write_record(pbf_writer& out, const T& record) {
  uint32_t field = 0;
  std::apply([&](auto... member) { (put_field(out, ++field, record.*member), ...); }, FieldsOf<T>::list());
}

template <Record T>
void read_record(pbf_reader in, T& record) {
  while (in.next()) {
    bool known = false;
    uint32_t field = 0;
    const auto try_field = [&](auto& member) {
      if (known || in.tag_and_type() != tag_of(member, ++field)) return;
      known = true;
      get(in, member);
    };
    std::apply([&](auto... member) { (try_field(record.*member), ...); }, FieldsOf<T>::list());
    if (!known) in.skip();
  }
}

template <Record T>
std::string encode_record(const T& record) {
  std::string encoded;
  pbf_writer out(encoded);
  write_record(out, record);
  return encoded;
}

template <Record T>
absl::StatusOr<T> decode_record(std::string_view encoded, const char* what) {
  T record;
  const absl::Status status = guarded(encoded, absl::StatusCode::kDataLoss, what, [&record](pbf_reader in) {
    read_record(in, record);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return record;
}

}  // namespace coordkit::machine::fields

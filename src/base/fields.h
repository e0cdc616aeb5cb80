// The tags with which a reader of the protobuf wire format compares a field: its number and wire type at once. So a field of
// an unexpected type is skipped like an unknown one.
#pragma once

#include <cstdint>
#include <protozero/types.hpp>

namespace coordkit::fields {

constexpr uint32_t number(uint32_t field) { return protozero::tag_and_type(field, protozero::pbf_wire_type::varint); }
constexpr uint32_t fixed(uint32_t field) { return protozero::tag_and_type(field, protozero::pbf_wire_type::fixed64); }
constexpr uint32_t bytes(uint32_t field) { return protozero::tag_and_type(field, protozero::pbf_wire_type::length_delimited); }

}  // namespace coordkit::fields

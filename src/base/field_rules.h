// The common part of a writer (field_writer.h) and a reader (field_reader.h) of messages. It has the rules of a family of
// messages, and the number for each value.
//
// Rules state the conventions of a family of messages:
//   kWritesZeros         whether zero and empty fields are written after all
//   value<T>(number)     the value of a number from hostile bytes
//   blank<M>()           the meaning of absent fields of an element
//   body_bytes(message)  the length of an element if it is known beforehand, or zero
// describe() is looked up in the namespace of the rules and in the message's.
#pragma once

#include <cstdint>
#include <protozero/exception.hpp>
#include <protozero/types.hpp>
#include <string_view>
#include <type_traits>

#include "coordkit/bytes.h"
#include "coordkit/types.h"

namespace coordkit::codec {

template <typename M, typename T>
concept Describes = std::is_same_v<std::remove_const_t<M>, T>;

struct Malformed : protozero::exception {
  explicit Malformed(const char* why) : why_(why) {}
  const char* what() const noexcept override { return why_; }

 private:
  const char* why_;
};

inline void require(bool fact, const char* otherwise) {
  if (!fact) throw Malformed(otherwise);
}

// ---- the number of a value

template <typename Tag>
constexpr uint64_t number_of(Id<Tag> id) {
  return id.value();
}
constexpr uint64_t number_of(uint64_t value) { return value; }
constexpr uint64_t number_of(Duration duration) { return static_cast<uint64_t>(duration.count()); }
template <typename E>
requires std::is_enum_v<E>
constexpr uint64_t number_of(E value) { return static_cast<uint64_t>(value); }

// The default rules.
struct SparseRules {
  static constexpr bool kWritesZeros = false;
  template <typename T>
  static T value(uint64_t number) {
    return static_cast<T>(number);
  }
  template <typename M>
  static M blank() {
    return {};
  }
  template <typename M>
  static size_t body_bytes(const M&) {
    return 0;
  }
};
struct DenseRules : SparseRules {
  static constexpr bool kWritesZeros = true;
};

inline std::string_view view_of(std::string_view text) { return text; }
inline std::string_view view_of(const SharedBytes& bytes) { return bytes.view(); }

inline constexpr size_t kUnlimited = SIZE_MAX;

using Wire = protozero::pbf_wire_type;

}  // namespace coordkit::codec

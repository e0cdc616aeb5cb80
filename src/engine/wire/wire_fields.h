// The rules that turn messages between replicas into fields and back (base/field_io.h). Each family of messages
// describes its own in a file of its own and instantiates append_body and parse_body for them (wire_family.h).
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "base/field_io.h"
#include "coordkit/engine/wire.h"
#include "engine/wire/wire_family.h"

namespace coordkit::wire {

using codec::Describes;
using codec::number_of;
using codec::require;

// The legal values of an enumeration: defined beside the messages that use it. Specializations, not overloads: none can be
// missed.
template <typename E>
constexpr bool known(E value) = delete;
template <>
constexpr bool known(raft::Answer answer) {
  return answer == raft::Answer::No || answer == raft::Answer::Yes;
}

template <typename T>
T value_of(uint64_t number) {
  if constexpr (std::is_same_v<T, Term> || std::is_same_v<T, Index>) {
    require(number <= kPositionMax, "a term or an index out of range");
    return T(number);
  } else if constexpr (std::is_same_v<T, Duration>) {
    require(number <= static_cast<uint64_t>(Duration::max().count()), "a negative duration");
    return T(static_cast<Duration::rep>(number));
  } else if constexpr (std::is_enum_v<T>) {
    require(number <= 255 && known(static_cast<T>(number)), "an unknown enumerator");
    return static_cast<T>(number);
  } else if constexpr (std::is_same_v<T, bool>) {
    require(number <= 1, "a flag that is neither 0 nor 1");
    return number == 1;
  } else {
    return T(number);
  }
}

// The meaning of absent fields: zero, even where the type's own default is different.
template <typename M>
M blank() {
  return M{};
}

inline size_t varint_bytes(uint64_t value) { return static_cast<size_t>(protozero::length_of_varint(value)); }

// For an element of a list, so that its length can be written first and a payload is never moved. Zero: not known yet.
template <typename M>
size_t body_bytes(const M&) {
  return 0;
}

struct Rules : codec::SparseRules {
  template <typename T>
  static T value(uint64_t number) {
    return value_of<T>(number);
  }
  template <typename M>
  static M blank() {
    return wire::blank<M>();
  }
  template <typename M>
  static size_t body_bytes(const M& m) {
    return wire::body_bytes(m);
  }
};

// ---- bodies

template <typename M>
size_t size_hint(const M&) {
  return 96;
}
// Checks what a message requires of itself, on its way out and in.
template <typename M>
void check(const M&) {}
template <typename M>
void finish_reading(M&) {}

template <typename M>
void append_body(std::string& body, const M& m) {
  check(m);
  body.reserve(body.size() + size_hint(m));
  codec::append<Rules>(body, m);
}

// A message that carries little of a large buffer must not keep all of it alive.
inline constexpr size_t kCarriedAtLeast = 4;  // in parts: a quarter
template <typename M>
void unshare(M&, size_t) {}

// For what these bytes will be read into.
template <typename M>
void make_room(M&, std::string_view) {}

template <typename M>
absl::StatusOr<Message> parse_body(std::string_view bytes, const SharedBytes* of) {
  M m = blank<M>();
  make_room(m, bytes);
  codec::read<Rules>(bytes, m, {.ascending = kTimersListedMax, .read_from = of});
  finish_reading(m);
  if (of != nullptr) unshare(m, bytes.size());
  return Message(std::move(m));
}

}  // namespace coordkit::wire

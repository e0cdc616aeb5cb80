// The protobuf bytes of a record that lists its fields (field_list.h), by base/field_io.h. Durations and signed numbers are
// zigzag; a nested record is a message of its own. So a field is only ever added at the end. Readers take hostile bytes: an
// unknown field is skipped, an enumerator out of range stays out of range for validation to see. A record may have
// make_blank(): the meaning of absent fields where it is not the type's own default.
//
// A variant is a message with one field, the alternative under its number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/field_io.h"
#include "base/hold_texts.h"
#include "coordkit/records.h"
#include "lease/secret.h"
#include "machine/field_list.h"
#include "machine/machine_fields.h"

namespace coordkit::machine::fields {

// The fields of a record: its own list, or, for a public type, the list of a specialisation.
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
inline constexpr size_t kListMax = 10'000;  // of records within a record; longer lists are malformed
// Zero, or how many elements of a longer list are kept: one too many, for validation to refuse.
template <typename T>
inline constexpr size_t kListKept = 0;

// For an alternative of a variant: its number there.
template <typename T>
inline constexpr uint32_t kNumberOf = T::kField;

struct Rules : codec::SparseRules {
  template <typename T>
  static T value(uint64_t number) {
    if constexpr (std::is_same_v<T, bool>) return number != 0;
    if constexpr (!std::is_enum_v<T>) return T(number);
    static_assert(!std::is_enum_v<T> || sizeof(T) == 1);
    return static_cast<T>(static_cast<uint8_t>(std::min<uint64_t>(number, 0xff)));
  }
  template <typename M>
  static void make_blank(M& one) {
    if constexpr (requires { one.make_blank(); }) one.make_blank();
  }
  template <typename M>
  static M blank() {
    M one{};
    make_blank(one);
    return one;
  }
};
using Writer = codec::Writer<Rules>;
using Reader = codec::Reader<Rules>;

// ---- one field, by the type of its value

template <typename Io, typename T>
void field(Io& io, uint32_t number, T& value);

template <typename Io>
void describe(Io& io, codec::Describes<RequestId> auto& id) {
  io.number(1, id.origin.replica);
  io.fixed(2, id.origin.store);
  io.number(3, id.origin.boot);
  io.number(4, id.sequence);
}

// Exclusive is the usual mode, and is left out.
template <typename Io>
void mode_field(Io& io, uint32_t number, codec::Describes<LockMode> auto& mode) {
  std::optional<uint64_t> seen;
  if constexpr (!Io::kReads) {
    if (mode != LockMode::Exclusive) seen = static_cast<uint64_t>(mode);
  }
  io.number(number, seen);
  if constexpr (Io::kReads) {
    if (seen) mode = *seen == 0 ? LockMode::Exclusive : Rules::value<LockMode>(*seen);
  }
}

// Any length but that of a hash is invalid, and leaves no hash.
template <typename Io>
void hash_field(Io& io, uint32_t number, codec::Describes<lease::SecretHash> auto& hash) {
  if constexpr (Io::kReads) {
    std::string seen;
    io.bytes(number, seen);
    if (seen.size() == hash.bytes.size()) std::copy_n(seen.data(), seen.size(), hash.bytes.begin());
  } else {
    if (hash) io.bytes(number, hash.view());
  }
}

template <typename Io>
void texts_field(Io& io, uint32_t number, auto& texts) {
  each_hold_text([&](const HoldText& text, auto& shown) { io.bytes(text.number == 0 ? number : text.number, shown); }, texts);
}

template <typename T>
inline constexpr bool kIsRecords = false;
template <Record T>
inline constexpr bool kIsRecords<std::vector<T>> = true;
template <Record T>
inline constexpr bool kIsRecords<std::optional<T>> = true;

template <typename Io, typename T>
void records_field(Io& io, uint32_t number, const std::vector<T>& list) {
  io.repeated(number, list, codec::kUnlimited);
}
template <typename Io, typename T>
void records_field(Io& io, uint32_t number, std::vector<T>& list) {
  if constexpr (kListKept < T >> 0) {
    io.repeated_first(number, list, kListKept<T>);
  } else {
    io.repeated(number, list, kListMax<T>);
  }
}
template <typename Io, typename T>
void records_field(Io& io, uint32_t number, const std::optional<T>& record) {
  io.message(number, record);
}
template <typename Io, typename T>
void records_field(Io& io, uint32_t number, std::optional<T>& record) {
  io.message(number, record);
}

template <typename Io, typename T>
void field(Io& io, uint32_t number, T& value) {
  using Value = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Value, LockMode>) {
    mode_field(io, number, value);
  } else if constexpr (std::is_same_v<Value, lease::SecretHash>) {
    hash_field(io, number, value);
  } else if constexpr (std::is_same_v<Value, HoldTexts>) {
    texts_field(io, number, value);
  } else if constexpr (std::is_same_v<Value, std::string> || std::is_same_v<Value, std::optional<std::string>>) {
    io.bytes(number, value);
  } else if constexpr (std::is_same_v<Value, Duration> || std::is_same_v<Value, int64_t>) {
    io.signed_number(number, value);
  } else if constexpr (kIsRecords<Value>) {
    records_field(io, number, value);
  } else if constexpr (Record<Value> || std::is_same_v<Value, RequestId>) {
    io.message(number, value);
  } else {
    io.number(number, value);
  }
}

// ---- all fields of a record

template <typename Field>
constexpr uint32_t number_after(uint32_t last, const Field&) {
  return last + 1;
}
template <typename Field>
constexpr uint32_t number_after(uint32_t, const NumberedField<Field>& numbered) {
  return numbered.number;
}

auto& member_of(auto& record, auto field) { return record.*field; }
template <typename Field>
auto& member_of(auto& record, NumberedField<Field> numbered) {
  return member_of(record, numbered.field);
}
template <typename Member, typename Field>
auto& member_of(auto& record, PartOfMember<Member, Field> part) {
  return member_of(record.*part.member, part.field);
}

template <typename Io, typename M>
requires Record<std::remove_const_t<M>>
void describe(Io& io, M& record) {
  uint32_t number = 0;
  std::apply([&](auto... member) { (field(io, number = number_after(number, member), member_of(record, member)), ...); },
             FieldsOf<std::remove_const_t<M>>::list());
}

// ---- whole messages

// How a message is written and read: a record by its fields. Nested messages define this themselves.
template <typename T>
struct CodecOf;
template <Record T>
struct CodecOf<T> {
  static void append(std::string& bytes, const T& record) { codec::append<Rules>(bytes, record); }
  static void read(pbf_reader in, T& record) {
    codec::Budget budget;
    Reader::read_message(in, record, budget);
  }
};

template <typename T>
std::string encode_record(const T& record) {
  std::string encoded;
  CodecOf<T>::append(encoded, record);
  return encoded;
}

template <typename T>
absl::StatusOr<T> decode_record(std::string_view encoded, const char* what) {
  absl::StatusOr<T> record(absl::in_place);
  Rules::make_blank(*record);
  absl::Status status = guarded(encoded, absl::StatusCode::kDataLoss, what, [&record](pbf_reader in) {
    CodecOf<T>::read(in, *record);
    return absl::OkStatus();
  });
  if (!status.ok()) record = std::move(status);
  return record;
}

// ---- messages as fields of hand-written ones

using codec::put_message;

template <typename T>
void put_element(std::string& bytes, uint32_t number, const T& message) {
  if constexpr (Record<T>) {
    Writer(bytes).element(number, message);
  } else {
    put_message(bytes, number, [&] { CodecOf<T>::append(bytes, message); });
  }
}
template <Record T>
void put_elements(std::string& bytes, uint32_t number, const std::vector<T>& records) {
  Writer(bytes).repeated(number, records, codec::kUnlimited);
}

template <typename T>
requires requires { CodecOf<T>::read; }
void get(pbf_reader& in, T& message) { CodecOf<T>::read(in.get_message(), message); }
template <Record T>
void get(pbf_reader& in, std::vector<T>& records) {
  codec::require(records.size() < kListMax<T>, "a list beyond its limit");
  get(in, records.emplace_back(Rules::blank<T>()));
}

// ---- variants, whose alternatives are numbered

template <typename T>
inline constexpr bool kIsVariant = false;
template <typename... Alternatives>
inline constexpr bool kIsVariant<std::variant<Alternatives...>> = true;

template <typename T>
void put_alternative(std::string& out, const T& one) {
  if constexpr (kIsVariant<T>) {
    std::visit([&out](const auto& inner) { put_alternative(out, inner); }, one);
  } else if constexpr (!std::is_same_v<T, std::monostate>) {
    put_element(out, kNumberOf<T>, one);
  }
}

template <typename... Alternatives>
bool get_alternative(pbf_reader& in, std::variant<Alternatives...>& variant);

// False: the field under the cursor is another one.
template <typename T>
bool get_this_alternative(pbf_reader& in, auto& variant) {
  if constexpr (kIsVariant<T>) {
    T inner;
    if (!get_alternative(in, inner)) return false;
    variant = std::move(inner);
    return true;
  } else if constexpr (std::is_same_v<T, std::monostate>) {
    return false;
  } else {
    if (in.tag_and_type() != bytes(kNumberOf<T>)) return false;
    T& one = variant.template emplace<T>();
    Rules::make_blank(one);
    get(in, one);
    return true;
  }
}
// False: it is none of the alternatives.
template <typename... Alternatives>
bool get_alternative(pbf_reader& in, std::variant<Alternatives...>& variant) {
  return (get_this_alternative<Alternatives>(in, variant) || ...);
}

// A whole message that holds one alternative.
template <typename... Alternatives>
absl::Status get_alternatives(std::string_view encoded, absl::StatusCode code, const char* what,
                              std::variant<Alternatives...>& variant) {
  return guarded(encoded, code, what, [&variant](pbf_reader in) {
    while (in.next()) {
      if (!get_alternative(in, variant)) in.skip();
    }
    return absl::OkStatus();
  });
}

}  // namespace coordkit::machine::fields

// Messages as fields of the protobuf wire format. describe(io, message) names each field with its number, once for both
// directions: the io is a Writer or a Reader. Zero and empty fields are left out, so that equal values have equal bytes; a
// field that a reader does not know, or that has another wire type than it should, is skipped.
//
// An element of a list, and an optional that is set, are written even if empty; a message() inside a message is then left out.
//
// Rules say what a family of messages takes for granted: kWritesZeros, whether zero and empty fields are written after all;
// value<T>(number), the value of a number from hostile bytes; blank<M>(), what absent fields of an element mean;
// body_bytes(message), the length of an element if it is known beforehand, or zero. describe() is looked for in their
// namespace and in the message's.
//
// A writer checks limits, because exceeding one is a bug of this process. A reader throws a protozero::exception if the bytes
// are not such a message.
#pragma once

#include <cstdint>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
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

// What rules say unless they say otherwise.
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

// ---- the pieces of a field

using Wire = protozero::pbf_wire_type;

// Tag and number at once, where protozero appends byte by byte.
inline void put_numbers(std::string& bytes, uint64_t first, uint64_t second) {
  char both[2 * protozero::max_varint_length];
  int size = protozero::add_varint_to_buffer(both, first);
  size += protozero::add_varint_to_buffer(both + size, second);
  bytes.append(both, static_cast<size_t>(size));
}
inline void put_number(std::string& bytes, uint32_t field, uint64_t number) {
  put_numbers(bytes, protozero::tag_and_type(field, Wire::varint), number);
}
inline void put_bytes(std::string& bytes, uint32_t field, std::string_view value) {
  put_numbers(bytes, protozero::tag_and_type(field, Wire::length_delimited), value.size());
  bytes.append(value);
}

inline void put_fixed(std::string& bytes, uint32_t field, uint64_t number) {
  char both[protozero::max_varint_length + sizeof number];
  int size = protozero::add_varint_to_buffer(both, protozero::tag_and_type(field, Wire::fixed64));
  for (size_t byte = 0; byte < sizeof number; ++byte) both[size++] = static_cast<char>(number >> (8 * byte));
  bytes.append(both, static_cast<size_t>(size));
}

// A message as a field: `append` adds its own bytes, and its length goes before them. `expected` is that length if it is known:
// then they need not be moved. Returns the length.
template <typename Append>
size_t put_message(std::string& bytes, uint32_t field, Append append, size_t expected = 0) {
  put_numbers(bytes, protozero::tag_and_type(field, Wire::length_delimited), expected);
  const size_t begin = bytes.size();
  append();
  const size_t length = bytes.size() - begin;
  if (length == expected) return length;
  const auto room = static_cast<size_t>(protozero::length_of_varint(expected));
  const auto needed = static_cast<size_t>(protozero::length_of_varint(length));
  COORDKIT_CHECK(needed >= room);
  bytes.insert(begin, needed - room, '\0');
  protozero::add_varint_to_buffer(bytes.data() + begin - room, length);
  return length;
}

// ---- writing

template <typename Rules>
class Writer {
 public:
  static constexpr bool kReads = false;
  explicit Writer(std::string& bytes) : bytes_(bytes) {}

  template <typename T>
  void number(uint32_t field, const T& value) {
    if (Rules::kWritesZeros || number_of(value) != 0) put_number(bytes_, field, number_of(value));
  }
  template <typename T>
  void number(uint32_t field, const std::optional<T>& value) {
    if (value) put_number(bytes_, field, number_of(*value));
  }
  // Left out if it is zero, whatever the rules say.
  template <typename T>
  void number_if_any(uint32_t field, const T& value) {
    if (number_of(value) != 0) put_number(bytes_, field, number_of(value));
  }
  template <typename List>
  void numbers(uint32_t field, const List& values) {
    for (const auto& value : values) put_number(bytes_, field, number_of(value));
  }
  // Zigzag: small numbers of either sign are short.
  void signed_number(uint32_t field, int64_t value) {
    if (value != 0) put_number(bytes_, field, protozero::encode_zigzag64(value));
  }
  void signed_number(uint32_t field, Duration value) { signed_number(field, int64_t{value.count()}); }
  template <typename T>
  void fixed(uint32_t field, const T& value) {
    if (Rules::kWritesZeros || number_of(value) != 0) put_fixed(bytes_, field, number_of(value));
  }
  void fixed(uint32_t field, const std::optional<uint64_t>& value) {
    if (value) put_fixed(bytes_, field, *value);
  }
  template <typename T>
  void bytes(uint32_t field, const T& value, size_t limit = kUnlimited) {
    const std::string_view view = view_of(value);
    COORDKIT_CHECK(view.size() <= limit);
    if (Rules::kWritesZeros || !view.empty()) put_bytes(bytes_, field, view);
  }
  void bytes(uint32_t field, const std::optional<std::string>& value) {
    if (value) put_bytes(bytes_, field, *value);
  }
  void bytes_if_any(uint32_t field, std::string_view value) {
    if (!value.empty()) put_bytes(bytes_, field, value);
  }
  // Ascending ids as differences: ids of live things lie close together, so most take one or two bytes instead of nine.
  template <typename Tag>
  void ascending(uint32_t field, const std::vector<Id<Tag>>& ids, size_t limit) {
    if (ids.empty()) return;
    COORDKIT_CHECK(ids.size() <= limit);
    protozero::pbf_writer out(bytes_);
    protozero::packed_field_uint64 packed(out, field);
    Id<Tag> last;
    for (const Id<Tag> id : ids) {
      COORDKIT_CHECK(last < id);
      packed.add_element(id - last);
      last = id;
    }
  }
  template <typename M>
  void message(uint32_t field, const M& m) {
    const size_t before = bytes_.size();
    if (put_message(bytes_, field, [&] { describe(*this, m); }) == 0) bytes_.resize(before);
  }
  template <typename M>
  void message(uint32_t field, const std::optional<M>& m) {
    if (m) element(field, *m);
  }
  template <typename M>
  void repeated(uint32_t field, const std::vector<M>& items, size_t limit) {
    COORDKIT_CHECK(items.size() <= limit);
    for (const M& item : items) element(field, item);
  }
  template <typename M>
  void repeated_first(uint32_t field, const std::vector<M>& items, size_t) {
    for (const M& item : items) element(field, item);
  }
  void repeated(uint32_t field, const std::vector<SharedBytes>& items, size_t limit, size_t bytes_max) {
    COORDKIT_CHECK(items.size() <= limit);
    for (const SharedBytes& item : items) {
      COORDKIT_CHECK(item.size() <= bytes_max);
      put_bytes(bytes_, field, item.view());
    }
  }

 private:
  template <typename M>
  void element(uint32_t field, const M& m) {
    put_message(
        bytes_, field, [&] { describe(*this, m); }, Rules::body_bytes(m));
  }

  std::string& bytes_;
};

// ---- reading

// What a whole message may still hold, over all its parts, and whose bytes it is read from: SharedBytes in it are slices
// of those. Null: they are copies.
struct Budget {
  size_t ascending = 0;
  const SharedBytes* read_from = nullptr;
};

// For a pass over the fields of a message: describe() offers it each of them once, and it takes the one under the cursor, which
// then moves on. Fields come in the order in which they are described, so that one pass takes most messages whole.
template <typename Rules>
class Reader {
 public:
  static constexpr bool kReads = true;

  template <typename T>
  void number(uint32_t field, T& value) {
    if (at(field, Wire::varint)) value = Rules::template value<T>(in_.get_uint64());
  }
  template <typename T>
  void number(uint32_t field, std::optional<T>& value) {
    if (at(field, Wire::varint)) value = Rules::template value<T>(in_.get_uint64());
  }
  template <typename T>
  void number_if_any(uint32_t field, T& value) {
    number(field, value);
  }
  template <typename List>
  void numbers(uint32_t field, List& values) {
    using Value = typename List::value_type;
    while (at(field, Wire::varint)) values.insert(values.end(), Rules::template value<Value>(in_.get_uint64()));
  }
  template <typename T>
  void signed_number(uint32_t field, T& value) {
    if (at(field, Wire::varint)) value = T(in_.get_sint64());
  }
  template <typename T>
  void fixed(uint32_t field, T& value) {
    if (at(field, Wire::fixed64)) value = T(in_.get_fixed64());
  }
  void bytes(uint32_t field, std::string& value, size_t limit = kUnlimited) {
    if (at(field, Wire::length_delimited)) value = view(limit);
  }
  void bytes(uint32_t field, std::optional<std::string>& value) {
    if (at(field, Wire::length_delimited)) value = view(kUnlimited);
  }
  void bytes_if_any(uint32_t field, std::string& value) { bytes(field, value); }
  // Points into what is read.
  void bytes(uint32_t field, std::string_view& value, size_t limit = kUnlimited) {
    if (at(field, Wire::length_delimited)) value = view(limit);
  }
  void bytes(uint32_t field, SharedBytes& value, size_t limit = kUnlimited) {
    if (at(field, Wire::length_delimited)) value = shared(view(limit));
  }
  template <typename Tag>
  void ascending(uint32_t field, std::vector<Id<Tag>>& ids, size_t) {
    if (!at(field, Wire::length_delimited)) return;
    require(ids.empty(), "a list of ids in two pieces");
    const auto packed = in_.get_packed_uint64();
    const size_t count = packed.size();  // counts bytes, allocates nothing
    require(count <= budget_.ascending, "more ids than the limit");
    budget_.ascending -= count;
    ids.reserve(count);
    Id<Tag> last;
    for (const uint64_t distance : packed) {
      require(distance != 0 && distance <= ~last.value(), "ids that do not ascend");
      ids.push_back(last = last + distance);
    }
  }
  template <typename M>
  void message(uint32_t field, M& m) {
    if (at(field, Wire::length_delimited)) read_message(in_.get_message(), m, budget_);
  }
  template <typename M>
  void message(uint32_t field, std::optional<M>& m) {
    if (at(field, Wire::length_delimited)) read_message(in_.get_message(), m.emplace(Rules::template blank<M>()), budget_);
  }
  // What exceeds the limit is read and discarded.
  template <typename M>
  void repeated_first(uint32_t field, std::vector<M>& items, size_t limit) {
    while (at(field, Wire::length_delimited)) {
      M item = Rules::template blank<M>();
      read_message(in_.get_message(), item, budget_);
      if (items.size() < limit) items.push_back(std::move(item));
    }
  }
  template <typename M>
  void repeated(uint32_t field, std::vector<M>& items, size_t limit) {
    while (at(field, Wire::length_delimited)) {
      require(items.size() < limit, "a list beyond its limit");
      read_message(in_.get_message(), items.emplace_back(Rules::template blank<M>()), budget_);
    }
  }
  void repeated(uint32_t field, std::vector<SharedBytes>& items, size_t limit, size_t bytes_max) {
    while (at(field, Wire::length_delimited)) {
      require(items.size() < limit, "a list beyond its limit");
      items.push_back(shared(view(bytes_max)));
    }
  }
  template <typename M>
  static void read_message(protozero::pbf_reader in, M& m, Budget& budget) {
    Reader reader(in, budget);
    while (reader.begin_pass()) {
      describe(reader, m);
      if (!reader.taken_) reader.skip();
    }
  }

 private:
  Reader(protozero::pbf_reader& in, Budget& budget) : in_(in), budget_(budget) {}

  static constexpr uint32_t kTaken = 0;  // these two match no field
  static constexpr uint32_t kEnd = ~uint32_t{0};

  // False: there are no more fields.
  bool begin_pass() {
    if (at_ == kTaken) move_on();
    taken_ = false;
    return at_ != kEnd;
  }
  [[gnu::noinline]] void move_on() { at_ = in_.next() ? in_.tag_and_type() : kEnd; }
  void skip() {
    in_.skip();
    at_ = kTaken;
  }
  // Asked once for each field that there is, and most are absent: a comparison, without a call.
  [[gnu::always_inline]] bool at(uint32_t field, Wire type) {
    if (at_ == kTaken) move_on();
    if (at_ != protozero::tag_and_type(field, type)) return false;
    at_ = kTaken;
    return taken_ = true;
  }
  std::string_view view(size_t limit) {
    const protozero::data_view view = in_.get_view();
    require(view.size() <= limit, "bytes beyond their limit");
    return {view.data(), view.size()};
  }

  SharedBytes shared(std::string_view bytes) const {
    return budget_.read_from == nullptr ? SharedBytes(bytes) : budget_.read_from->part(bytes);
  }

  protozero::pbf_reader& in_;
  uint32_t at_ = kTaken;  // the field under the cursor
  bool taken_ = false;    // any field in this pass
  Budget& budget_;
};

// ---- whole messages

template <typename Rules, typename M>
void append(std::string& bytes, const M& m) {
  Writer<Rules> writer(bytes);
  describe(writer, m);
}

template <typename Rules, typename M>
void read(std::string_view bytes, M& m, Budget budget = {}) {
  Reader<Rules>::read_message(protozero::pbf_reader(bytes.data(), bytes.size()), m, budget);
}

}  // namespace coordkit::codec

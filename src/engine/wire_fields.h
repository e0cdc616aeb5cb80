// How messages become fields and back: one description of a message's fields serves the writer and the reader. Each family of
// messages describes its own in a file of its own and instantiates append_body and parse_body for them (wire_family.h).
#pragma once

#include <algorithm>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/wire.h"
#include "engine/wire_family.h"

namespace coordkit::wire {

struct Malformed : protozero::exception {
  explicit Malformed(const char* why) : why_(why) {}
  const char* what() const noexcept override { return why_; }

 private:
  const char* why_;
};

inline void require(bool fact, const char* otherwise) {
  if (!fact) throw Malformed(otherwise);
}

// What an enumeration may say: said beside the messages that use it. Specializations, not overloads, so that none can be
// missed.
template <typename E>
constexpr bool known(E value) = delete;
template <>
constexpr bool known(raft::Answer answer) {
  return answer == raft::Answer::No || answer == raft::Answer::Yes;
}

// ---- single values, the same in both directions

template <typename Tag>
constexpr uint64_t number_of(Id<Tag> id) {
  return id.value();
}
constexpr uint64_t number_of(uint64_t value) { return value; }
constexpr uint64_t number_of(Duration duration) { return static_cast<uint64_t>(duration.count()); }
template <typename E>
requires std::is_enum_v<E>
constexpr uint64_t number_of(E value) { return static_cast<uint64_t>(value); }

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
    require(number <= 1, "a flag that is neither");
    return number == 1;
  } else {
    return T(number);
  }
}

struct Writer {
  std::string& buffer;
  protozero::pbf_writer out{buffer};

  template <typename T>
  void number(uint32_t tag, const T& value) {
    if (number_of(value) != 0) out.add_uint64(tag, number_of(value));
  }
  void fixed(uint32_t tag, uint64_t value) {
    if (value != 0) out.add_fixed64(tag, value);
  }
  void timers(uint32_t tag, const std::vector<TimerId>& ids);
  template <typename M>
  void repeated(uint32_t tag, const std::vector<M>& items, size_t limit);
  void text(uint32_t tag, const std::string& bytes, size_t limit) {
    COORDKIT_CHECK(bytes.size() <= limit);
    if (!bytes.empty()) out.add_bytes(tag, bytes);
  }
  void optional_fixed(uint32_t tag, const std::optional<uint64_t>& value) {
    if (value) out.add_fixed64(tag, *value);
  }
  void bytes(uint32_t tag, const SharedBytes& payload) {
    COORDKIT_CHECK(payload.size() <= kPayloadBytesMax);
    if (!payload.empty()) out.add_bytes(tag, payload.view().data(), payload.size());
  }
};

struct Reader {
  protozero::pbf_reader& in;
  size_t& timers_left;  // of the whole message
  bool taken = false;   // the field under the cursor

  bool at(uint32_t tag, protozero::pbf_wire_type type) {
    if (in.tag_and_type() != protozero::tag_and_type(tag, type)) return false;
    return taken = true;
  }
  template <typename T>
  void number(uint32_t tag, T& value) {
    if (at(tag, protozero::pbf_wire_type::varint)) value = value_of<T>(in.get_uint64());
  }
  void fixed(uint32_t tag, uint64_t& value) {
    if (at(tag, protozero::pbf_wire_type::fixed64)) value = in.get_fixed64();
  }
  void timers(uint32_t tag, std::vector<TimerId>& ids);
  template <typename M>
  void repeated(uint32_t tag, std::vector<M>& items, size_t limit);
  void text(uint32_t tag, std::string& bytes, size_t limit) {
    if (!at(tag, protozero::pbf_wire_type::length_delimited)) return;
    const protozero::data_view view = in.get_view();
    require(view.size() <= limit, "a text beyond its limit");
    bytes.assign(view.data(), view.size());
  }
  void optional_fixed(uint32_t tag, std::optional<uint64_t>& value) {
    if (at(tag, protozero::pbf_wire_type::fixed64)) value = in.get_fixed64();
  }
  void bytes(uint32_t tag, SharedBytes& payload) {
    if (!at(tag, protozero::pbf_wire_type::length_delimited)) return;
    const protozero::data_view view = in.get_view();
    require(view.size() <= kPayloadBytesMax, "a payload beyond kPayloadBytesMax");
    payload = SharedBytes(std::string(view.data(), view.size()));
  }
};

template <typename M, typename T>
concept Describes = std::is_same_v<std::remove_const_t<M>, T>;

// What absent fields mean: zero, also where the type's own default is another.
template <typename M>
M blank() {
  return M{};
}

// ---- repeated fields

inline size_t varint_bytes(uint64_t value) { return static_cast<size_t>(protozero::length_of_varint(value)); }

// Of what repeated() writes, so that the length goes first and a payload is never moved. Zero: not known yet.
template <typename M>
size_t body_bytes(const M&) {
  return 0;
}

template <typename M>
void Writer::repeated(uint32_t tag, const std::vector<M>& items, size_t limit) {
  COORDKIT_CHECK(items.size() <= limit);
  for (const M& item : items) {
    const size_t before = buffer.size();
    {
      protozero::pbf_writer parent(buffer);  // one for each: protozero 1.7 takes one child of known size per parent
      const protozero::pbf_writer brackets(parent, tag, body_bytes(item));
      Writer inner{buffer};
      fields(inner, item);
    }
    if (buffer.size() == before) out.add_message(tag, "", 0);  // protozero leaves out what is empty; the count matters
  }
}

// Ascending ids as differences: live timers lie close together, so most take one or two bytes instead of nine.
inline void Writer::timers(uint32_t tag, const std::vector<TimerId>& ids) {
  if (ids.empty()) return;
  COORDKIT_CHECK(ids.size() <= kTimersListedMax);
  protozero::packed_field_uint64 packed(out, tag);
  TimerId last;
  for (const TimerId id : ids) {
    COORDKIT_CHECK(last < id);
    packed.add_element(id - last);
    last = id;
  }
}

template <typename M>
void read(protozero::pbf_reader in, M& m, size_t& timers_left) {
  while (in.next()) {
    Reader reader{in, timers_left};
    fields(reader, m);
    if (!reader.taken) in.skip();
  }
}

template <typename M>
void Reader::repeated(uint32_t tag, std::vector<M>& items, size_t limit) {
  if (!at(tag, protozero::pbf_wire_type::length_delimited)) return;
  require(items.size() < limit, "a list beyond its limit");
  read(in.get_message(), items.emplace_back(blank<M>()), timers_left);
}

inline void Reader::timers(uint32_t tag, std::vector<TimerId>& ids) {
  if (!at(tag, protozero::pbf_wire_type::length_delimited)) return;
  require(ids.empty(), "a timer list in two pieces");
  const auto packed = in.get_packed_uint64();
  const size_t count = packed.size();  // counts bytes, allocates nothing
  require(count <= timers_left, "more timers than kTimersListedMax");
  timers_left -= count;
  ids.reserve(count);
  TimerId last;
  for (const uint64_t distance : packed) {
    require(distance != 0 && distance <= ~last.value(), "timers that do not ascend");
    ids.push_back(last = last + distance);
  }
}

// ---- bodies

template <typename M>
size_t size_hint(const M&) {
  return 96;
}
// What a message states about itself, on its way out and in.
template <typename M>
void check(const M&) {}
template <typename M>
void settle(M&) {}

template <typename M>
void append_body(std::string& body, const M& m) {
  check(m);
  body.reserve(body.size() + size_hint(m));
  Writer writer{body};
  fields(writer, m);
}

template <typename M>
absl::StatusOr<Message> parse_body(std::string_view bytes) {
  M m = blank<M>();
  size_t timers_left = kTimersListedMax;
  read(protozero::pbf_reader(bytes.data(), bytes.size()), m, timers_left);
  settle(m);
  return Message(std::move(m));
}

}  // namespace coordkit::wire

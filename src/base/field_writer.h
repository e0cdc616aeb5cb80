// Writes messages by their describe() (field_io.h). It checks limits, because exceeding one is a bug of this process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/field_rules.h"
#include "base/fixed.h"

namespace coordkit::codec {

// A message as a field: `append` adds its own bytes, and its length goes before them. `expected` is that length if it is known:
// then they need not be moved. Returns the length.
template <typename Append>
size_t put_message(std::string& bytes, uint32_t field, Append append, size_t expected = 0) {
  char tag_and_length[2 * protozero::max_varint_length];
  int size = protozero::add_varint_to_buffer(tag_and_length, protozero::tag_and_type(field, Wire::length_delimited));
  size += protozero::add_varint_to_buffer(tag_and_length + size, expected);
  bytes.append(tag_and_length, static_cast<size_t>(size));
  const size_t begin = bytes.size();
  append();
  const size_t length = bytes.size() - begin;
  if (length == expected) return length;
  const auto room = static_cast<size_t>(protozero::length_of_varint(expected));
  const auto needed = static_cast<size_t>(protozero::length_of_varint(length));
  COORDKIT_CHECK(needed >= room);
  if (needed > room) bytes.insert(begin, needed - room, '\0');
  protozero::add_varint_to_buffer(bytes.data() + begin - room, length);
  return length;
}

// Numbers and short bytes that follow each other are appended at once, the last of them when the writer ends.
template <typename Rules>
class Writer {
 public:
  static constexpr bool kReads = false;
  explicit Writer(std::string& bytes) : bytes_(bytes) {}
  ~Writer() { flush(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  template <typename T>
  void number(uint32_t field, const T& value) {
    if (Rules::kWritesZeros || number_of(value) != 0) put(field, number_of(value));
  }
  template <typename T>
  void number(uint32_t field, const std::optional<T>& value) {
    if (value) put(field, number_of(*value));
  }
  // Left out if it is zero, whatever the rules say.
  template <typename T>
  void number_if_any(uint32_t field, const T& value) {
    if (number_of(value) != 0) put(field, number_of(value));
  }
  template <typename List>
  void numbers(uint32_t field, const List& values) {
    for (const auto& value : values) put(field, number_of(value));
  }
  // Zigzag: small numbers of either sign are short.
  void signed_number(uint32_t field, int64_t value) {
    if (value != 0) put(field, protozero::encode_zigzag64(value));
  }
  void signed_number(uint32_t field, Duration value) { signed_number(field, int64_t{value.count()}); }
  template <typename T>
  void fixed(uint32_t field, const T& value) {
    if (Rules::kWritesZeros || number_of(value) != 0) put_all_bytes(field, number_of(value));
  }
  void fixed(uint32_t field, const std::optional<uint64_t>& value) {
    if (value) put_all_bytes(field, *value);
  }
  template <typename T>
  void bytes(uint32_t field, const T& value, size_t limit = kUnlimited) {
    const std::string_view view = view_of(value);
    COORDKIT_CHECK(view.size() <= limit);
    if (Rules::kWritesZeros || !view.empty()) put(field, view);
  }
  void bytes(uint32_t field, const std::optional<std::string>& value) {
    if (value) put(field, *value);
  }
  void bytes_if_any(uint32_t field, std::string_view value) {
    if (!value.empty()) put(field, value);
  }
  // Ascending ids as differences: ids of live things lie close together, so most take one or two bytes instead of nine.
  template <typename Tag>
  void ascending(uint32_t field, const std::vector<Id<Tag>>& ids, size_t limit) {
    if (ids.empty()) return;
    COORDKIT_CHECK(ids.size() <= limit);
    flush();
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
    flush();
    const size_t before = bytes_.size();
    if (element(field, m, /*expected=*/0) == 0) bytes_.resize(before);
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
      put(field, item.view());
    }
  }

 private:
  static constexpr size_t kHeldMax = 96;
  static constexpr size_t kFieldMax = size_t{2} * protozero::max_varint_length;  // a number, or what goes before bytes
  static constexpr size_t kShortMax = 32;                                        // bytes that are worth holding

  void flush() {
    if (size_ > 0) bytes_.append(held_, std::exchange(size_, 0));
  }
  void put_varint(uint64_t number) { size_ += static_cast<size_t>(protozero::add_varint_to_buffer(held_ + size_, number)); }
  void put_tag(uint32_t field, Wire type) {
    if (size_ > kHeldMax - kFieldMax) flush();
    put_varint(protozero::tag_and_type(field, type));
  }
  void put(uint32_t field, uint64_t number) {
    put_tag(field, Wire::varint);
    put_varint(number);
  }
  void put_all_bytes(uint32_t field, uint64_t number) {
    put_tag(field, Wire::fixed64);
    store_u64(held_ + size_, number);
    size_ += sizeof number;
  }
  void put(uint32_t field, std::string_view value) {
    put_tag(field, Wire::length_delimited);
    put_varint(value.size());
    if (value.size() <= std::min(kShortMax, kHeldMax - size_)) {
      std::ranges::copy(value, held_ + size_);
      size_ += value.size();
    } else {
      flush();
      bytes_.append(value);
    }
  }
  template <typename M>
  void element(uint32_t field, const M& m) {
    element(field, m, Rules::body_bytes(m));
  }
  template <typename M>
  size_t element(uint32_t field, const M& m, size_t expected) {
    flush();
    const auto append = [&] {
      describe(*this, m);
      flush();
    };
    return put_message(bytes_, field, append, expected);
  }

  std::string& bytes_;
  char held_[kHeldMax];
  size_t size_ = 0;
};

}  // namespace coordkit::codec

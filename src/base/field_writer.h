// Writes messages by their describe() (field_io.h). It checks limits, because exceeding one is a bug of this process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/field_rules.h"
#include "base/fixed.h"
#include "base/varint.h"

namespace coordkit::codec {

// A message takes all bytes from `begin` on. Its length goes before them, where `expected` is now. If that is a shorter
// number, the bytes are moved.
inline void put_length(std::string& bytes, size_t begin, size_t expected) {
  const size_t length = bytes.size() - begin;
  const auto room = static_cast<size_t>(protozero::length_of_varint(expected));
  const auto needed = static_cast<size_t>(protozero::length_of_varint(length));
  COORDKIT_CHECK(needed >= room);
  if (needed > room) bytes.insert(begin, needed - room, '\0');
  protozero::add_varint_to_buffer(bytes.data() + begin - room, length);  // and no byte more, as write_varint() may
}

// Writes a message as a field: `append` adds its own bytes.
template <typename Append>
void put_message(std::string& bytes, uint32_t field, Append append) {
  char tag_and_length[2 * protozero::max_varint_length];
  char* const length = write_varint(tag_and_length, protozero::tag_and_type(field, Wire::length_delimited));
  bytes.append(tag_and_length, write_varint(length, 0));
  const size_t begin = bytes.size();
  append();
  put_length(bytes, begin, 0);
}

// Collects numbers, short bytes and short messages that follow each other and appends them at once, the last of them when the
// writer ends.
template <typename Rules>
class Writer {
 public:
  static constexpr bool kReads = false;
  explicit Writer(std::string& bytes) : bytes_(bytes) {}
  // Throws if there is no memory for the last fields, unless another exception has left them unfinished.
  ~Writer() noexcept(false) {
    try {
      flush();
    } catch (...) {
      if (std::uncaught_exceptions() == 0) throw;
    }
  }
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
  [[gnu::always_inline]] void bytes(uint32_t field, const T& value, size_t limit = kUnlimited) {
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
  // Writes ascending ids as differences. Ids of live things are close together, so most take one or two bytes instead of
  // nine.
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
    const size_t before = written();
    if (element(field, m) != 0) return;
    flush();  // its tag must be written first
    bytes_.resize(before);
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
  // Writes a message even if it is empty. Returns its length.
  template <typename M>
  size_t element(uint32_t field, const M& m) {
    const size_t expected = Rules::body_bytes(m);
    end_at(write_varint(begin_field(field, Wire::length_delimited), expected));
    const size_t begin = written();
    describe(*this, m);
    const size_t length = written() - begin;
    if (length == expected) return length;
    if (expected == 0 && begin > bytes_.size()) {  // its length is still held, and so is all that follows: below 128 bytes
      held_[begin - bytes_.size() - 1] = static_cast<char>(length);
    } else {
      flush();
      put_length(bytes_, begin, expected);
    }
    return length;
  }

 private:
  static constexpr size_t kHeldMax = 96;  // I: below 128, so that one byte is the length of a message that is wholly held
  static constexpr size_t kFieldMax = size_t{2} * protozero::max_varint_length;  // a number, or tag and length before bytes
  static constexpr size_t kShortMax = 32;                                        // bytes up to this length are held

  size_t written() const { return bytes_.size() + size_; }
  [[gnu::noinline]] void flush() {
    if (size_ > 0) bytes_.append(held_, std::exchange(size_, 0));
  }
  // Returns the place for its value.
  char* begin_field(uint32_t field, Wire type) {
    if (size_ > kHeldMax - kFieldMax) flush();
    return write_varint(held_ + size_, protozero::tag_and_type(field, type));
  }
  void end_at(const char* end) { size_ = static_cast<size_t>(end - held_); }
  void put(uint32_t field, uint64_t number) { end_at(write_varint(begin_field(field, Wire::varint), number)); }
  void put_all_bytes(uint32_t field, uint64_t number) {
    char* const at = begin_field(field, Wire::fixed64);
    store_u64(at, number);
    end_at(at + sizeof number);
  }
  void put(uint32_t field, std::string_view value) {
    char* const at = write_varint(begin_field(field, Wire::length_delimited), value.size());
    if (value.size() <= std::min<size_t>(kShortMax, held_ + kHeldMax - at)) {
      end_at(at + value.copy(at, value.size()));
    } else {
      end_at(at);
      flush();
      bytes_.append(value);
    }
  }

  std::string& bytes_;
  char held_[kHeldMax];
  size_t size_ = 0;
};

}  // namespace coordkit::codec

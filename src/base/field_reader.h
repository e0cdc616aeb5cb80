// Reads messages by their describe() (field_io.h) from hostile bytes. It throws a protozero::exception if they are no such
// message.
#pragma once

#include <cstdint>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/field_rules.h"
#include "base/fixed.h"
#include "base/varint.h"

namespace coordkit::codec {

// How much a whole message may still hold, over all its parts. `read_from` owns the bytes from which it is read: SharedBytes
// in the message are slices of them. Null: they are copies.
struct Budget {
  size_t ascending = 0;
  const SharedBytes* read_from = nullptr;
};

// Makes passes over the fields of a message. describe() offers it each field once, and it takes the one under the cursor,
// which then moves on. Fields come in the order in which they are described, so one pass takes most messages whole. If no
// field has taken the bytes under the cursor, protozero judges and skips them.
template <typename Rules>
class Reader {
 public:
  static constexpr bool kReads = true;

  template <typename T>
  void number(uint32_t field, T& value) {
    if (at(field, Wire::varint)) value = Rules::template value<T>(varint());
  }
  template <typename T>
  void number(uint32_t field, std::optional<T>& value) {
    if (at(field, Wire::varint)) value = Rules::template value<T>(varint());
  }
  template <typename T>
  void number_if_any(uint32_t field, T& value) {
    number(field, value);
  }
  template <typename List>
  void numbers(uint32_t field, List& values) {
    using Value = typename List::value_type;
    while (at(field, Wire::varint)) values.insert(values.end(), Rules::template value<Value>(varint()));
  }
  template <typename T>
  void signed_number(uint32_t field, T& value) {
    if (at(field, Wire::varint)) value = T(protozero::decode_zigzag64(varint()));
  }
  template <typename T>
  void fixed(uint32_t field, T& value) {
    if (at(field, Wire::fixed64)) value = T(all_bytes());
  }
  void bytes(uint32_t field, std::string& value, size_t limit = kUnlimited) {
    if (at(field, Wire::length_delimited)) value = view(limit);
  }
  void bytes(uint32_t field, std::optional<std::string>& value) {
    if (at(field, Wire::length_delimited)) value = view(kUnlimited);
  }
  void bytes_if_any(uint32_t field, std::string& value) { bytes(field, value); }
  void bytes_if_any(uint32_t field, std::string_view& value) { bytes(field, value); }
  // The view points into the bytes that are read.
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
    const std::string_view bytes = view(kUnlimited);
    const char* const end = bytes.data() + bytes.size();
    using Number = protozero::pbf_reader::const_uint64_iterator;
    const protozero::iterator_range<Number> packed({bytes.data(), end}, {end, end});
    const size_t count = packed.size();  // counts the bytes, allocates nothing
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
    if (at(field, Wire::length_delimited)) read_message(nested(), m, budget_);
  }
  template <typename M>
  void message(uint32_t field, std::optional<M>& m) {
    if (at(field, Wire::length_delimited)) read_message(nested(), m.emplace(Rules::template blank<M>()), budget_);
  }
  // Elements beyond the limit are read and discarded.
  template <typename M>
  void repeated_first(uint32_t field, std::vector<M>& items, size_t limit) {
    while (at(field, Wire::length_delimited)) {
      M item = Rules::template blank<M>();
      read_message(nested(), item, budget_);
      if (items.size() < limit) items.push_back(std::move(item));
    }
  }
  template <typename M>
  void repeated(uint32_t field, std::vector<M>& items, size_t limit) {
    while (at(field, Wire::length_delimited)) {
      require(items.size() < limit, "a list beyond its limit");
      read_message(nested(), items.emplace_back(Rules::template blank<M>()), budget_);
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
    Reader reader(in.data(), budget);
    while (reader.begin_pass()) {
      describe(reader, m);
      if (!reader.taken_) reader.skip();
    }
  }

 private:
  Reader(protozero::data_view bytes, Budget& budget) : at_(bytes.data()), end_(at_ + bytes.size()), budget_(budget) {}

  // False: no fields are left.
  bool begin_pass() {
    taken_ = false;
    return at_ != end_;
  }
  void skip() {
    protozero::pbf_reader in(at_, static_cast<size_t>(end_ - at_));
    in.next();
    in.skip();
    at_ = end_ - in.length();
  }
  // Called once for each described field, and most are absent: it compares one byte, without a call.
  [[gnu::always_inline]] bool at(uint32_t field, Wire type) {
    if (at_ == end_) return false;
    const uint32_t tag = protozero::tag_and_type(field, type);
    const auto first = static_cast<uint8_t>(*at_);
    if (first >= 0x80) return begins_with(tag);
    if (first != tag) return false;
    ++at_;
    return taken_ = true;
  }
  // For a tag of more than one byte.
  [[gnu::noinline]] bool begins_with(uint32_t tag) {
    const char* after = at_;
    if (static_cast<uint32_t>(protozero::decode_varint(&after, end_)) != tag) return false;
    at_ = after;
    return taken_ = true;
  }
  protozero::pbf_reader nested() {
    const std::string_view bytes = view(kUnlimited);
    return {bytes.data(), bytes.size()};
  }
  uint64_t all_bytes() {
    if (static_cast<size_t>(end_ - at_) < sizeof(uint64_t)) throw protozero::end_of_buffer_exception();
    return load_u64(std::exchange(at_, at_ + sizeof(uint64_t)));
  }
  uint64_t varint() { return read_varint(&at_, end_); }
  std::string_view view(size_t limit) {
    const auto size = static_cast<uint32_t>(varint());
    if (size > static_cast<size_t>(end_ - at_)) throw protozero::end_of_buffer_exception();
    require(size <= limit, "bytes beyond their limit");
    return {std::exchange(at_, at_ + size), size};
  }

  SharedBytes shared(std::string_view bytes) const {
    return budget_.read_from == nullptr ? SharedBytes(bytes) : budget_.read_from->part(bytes);
  }

  const char* at_;  // the tag of a field, or the end
  const char* end_;
  bool taken_ = false;  // a field was taken in this pass
  Budget& budget_;
};

}  // namespace coordkit::codec

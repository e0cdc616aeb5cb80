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

namespace coordkit::codec {

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

}  // namespace coordkit::codec

// Intervals of keys (docs/semantics.md S-05) as two places between keys. This form unifies the three ways to write one.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "coordkit/keys/key_operations.h"

namespace coordkit::mvcc {

// A place before a key, after it, or after all keys.
struct Bound {
  enum class Place : uint8_t { Before, After, End };
  Place place = Place::Before;
  std::string_view key = {};
  friend std::strong_ordering operator<=>(const Bound& a, const Bound& b) {
    const bool a_last = a.place == Place::End, b_last = b.place == Place::End;
    if (a_last || b_last) return a_last <=> b_last;
    if (const auto keys = a.key <=> b.key; keys != 0) return keys;
    return a.place <=> b.place;
  }
  friend bool operator==(const Bound& a, const Bound& b) { return a <=> b == 0; }
};

// Its strings belong to the caller, which decides how long they live.
struct Interval {
  Bound from;
  Bound upto;  // exclusive

  static Interval of(std::string_view key, std::string_view end) {
    if (end.empty()) return {{Bound::Place::Before, key}, {Bound::Place::After, key}};
    if (end == kNoEnd) return {{Bound::Place::Before, key}, {Bound::Place::End, {}}};
    return {{Bound::Place::Before, key}, {Bound::Place::Before, end}};
  }
  bool empty() const { return upto <= from; }
  bool below(std::string_view key) const { return upto <= Bound{Bound::Place::Before, key}; }
  bool contains(std::string_view key) const {
    const Bound at{Bound::Place::Before, key};
    return from <= at && at < upto;
  }
  bool single() const { return upto.place == Bound::Place::After; }
};

}  // namespace coordkit::mvcc

// The holds of one session, in the order of their tokens. They nearly always come in that order, so they stand in one row: a
// new one at its end, and what is over leaves a gap until half of the row is gaps. Cost: O(log n) each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "coordkit/client/handles.h"

namespace coordkit::client {

class Holds {
 public:
  // Several of one token stand in the order of their coming.
  void add(HoldRef hold) {
    const Token token = hold->token();
    ++size_;
    if (row_.empty() || row_.back().token <= token) {
      row_.push_back({token, std::move(hold)});
    } else {
      row_.insert(std::ranges::upper_bound(row_, token, {}, &Place::token), {token, std::move(hold)});
    }
  }
  // Null: none with this token. Valid until a hold is added or removed.
  const HoldRef* find(Token token) const {
    for (auto place = first_of(token); place != row_.end() && place->token == token; ++place) {
      if (place->hold != nullptr) return &place->hold;
    }
    return nullptr;
  }
  bool contains(const HoldRef& hold) const { return place_of(hold) != row_.end(); }
  // False: it is not here.
  bool remove(const HoldRef& hold) {
    const auto place = place_of(hold);
    if (place == row_.end()) return false;
    row_[place - row_.begin()].hold = nullptr;
    --size_;
    while (!row_.empty() && row_.back().hold == nullptr) row_.pop_back();
    if (row_.size() > 2 * size_ + kGapsKept) std::erase_if(row_, [](const Place& each) { return each.hold == nullptr; });
    return true;
  }
  void clear() {
    row_.clear();
    size_ = 0;
  }
  template <typename Visit>
  void each(Visit visit) const {
    for (const Place& place : row_) {
      if (place.hold != nullptr) visit(place.hold);
    }
  }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kGapsKept = 16;
  struct Place {
    Token token;
    HoldRef hold;  // null: a gap
  };
  using Row = std::vector<Place>;

  Row::const_iterator first_of(Token token) const { return std::ranges::lower_bound(row_, token, {}, &Place::token); }
  Row::const_iterator place_of(const HoldRef& hold) const {
    for (auto place = first_of(hold->token()); place != row_.end() && place->token == hold->token(); ++place) {
      if (place->hold == hold) return place;
    }
    return row_.end();
  }

  Row row_;
  size_t size_ = 0;  // without gaps
};

}  // namespace coordkit::client

// The holds of one session, in the order of their tokens. Most sessions have one, which is stored
// here. Several are in one row. They nearly always arrive in the order of the row: a new hold goes
// to its end. A removed hold leaves a gap until half of the row is gaps. Cost: O(log n) each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "coordkit/client/handles.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

class Holds {
 public:
  // Holds with the same token are in the order of their arrival.
  void add(HoldRef hold) {
    if (row_ == nullptr && only_ == nullptr) {
      only_ = std::move(hold);
      return;
    }
    if (row_ == nullptr) {
      row_ = std::make_unique<Row>();
      row_->add(std::move(only_));
    }
    row_->add(std::move(hold));
  }
  // Null: there is no hold with this token. Valid until a hold is added or removed.
  const HoldRef* find(Token token) const {
    if (row_ != nullptr) return row_->find(token);
    return only_ != nullptr && only_->token() == token ? &only_ : nullptr;
  }
  // Whether this very object is among them.
  bool contains(const HoldRef& hold) const { return row_ != nullptr ? row_->contains(hold) : only_ == hold; }
  // False: it is not here.
  bool remove(const HoldRef& hold) {
    if (row_ != nullptr) return row_->remove(hold);
    if (only_ != hold) return false;
    only_ = nullptr;
    return true;
  }
  // Forgets them. They stay held.
  void clear() {
    only_ = nullptr;
    row_ = nullptr;
  }
  template <typename Visit>
  // Calls `visit` with each HoldRef, in the order of the tokens. It must not add or remove any.
  void each(Visit visit) const {
    if (row_ != nullptr) {
      row_->each(visit);
    } else if (only_ != nullptr) {
      visit(only_);
    }
  }
  // How many there are.
  size_t size() const { return row_ != nullptr ? row_->size() : only_ != nullptr ? 1 : 0; }

 private:
  class Row {
   public:
    void add(HoldRef hold) {
      const Token token = hold->token();
      ++size_;
      if (places_.empty() || places_.back().token <= token) {
        places_.push_back({token, std::move(hold)});
      } else {
        places_.insert(std::ranges::upper_bound(places_, token, {}, &Place::token), {token, std::move(hold)});
      }
    }
    const HoldRef* find(Token token) const {
      for (auto place = first_of(token); place != places_.end() && place->token == token; ++place) {
        if (place->hold != nullptr) return &place->hold;
      }
      return nullptr;
    }
    bool contains(const HoldRef& hold) const { return place_of(hold) != places_.end(); }
    bool remove(const HoldRef& hold) {
      const auto place = place_of(hold);
      if (place == places_.end()) return false;
      places_[static_cast<size_t>(place - places_.begin())].hold = nullptr;
      --size_;
      while (!places_.empty() && places_.back().hold == nullptr) places_.pop_back();
      if (places_.size() > 2 * size_ + kGapsKept)
        std::erase_if(places_, [](const Place& each) { return each.hold == nullptr; });
      return true;
    }
    template <typename Visit>
    void each(Visit& visit) const {
      for (const Place& place : places_) {
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
    using Places = std::vector<Place>;

    Places::const_iterator first_of(Token token) const { return std::ranges::lower_bound(places_, token, {}, &Place::token); }
    Places::const_iterator place_of(const HoldRef& hold) const {
      for (auto place = first_of(hold->token()); place != places_.end() && place->token == hold->token(); ++place) {
        if (place->hold == hold) return place;
      }
      return places_.end();
    }

    Places places_;
    size_t size_ = 0;  // without gaps
  };

  HoldRef only_;              // null: no hold, or there is a row
  std::unique_ptr<Row> row_;  // null until there are two holds; then it stays
};

}  // namespace coordkit

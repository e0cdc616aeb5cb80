// A list that drops its oldest items when it is full, and counts them. Numbers stay valid: a dropped item is null.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace coordkit::sim {

template <typename T>
class BoundedList {
 public:
  explicit BoundedList(size_t most) : most_(most) {}

  // The number of the new item, from 0.
  uint64_t add(T item) {
    items_.push_back(std::move(item));
    if (items_.size() > most_) {
      items_.pop_front();
      ++dropped_;
    }
    return dropped_ + items_.size() - 1;
  }
  T* find(uint64_t number) {
    const bool there = number >= dropped_ && number - dropped_ < items_.size();
    return there ? &items_[number - dropped_] : nullptr;
  }
  // The item that the next add() will drop; null: nothing.
  const T* next_to_go() const { return items_.size() == most_ && most_ > 0 ? &items_.front() : nullptr; }
  uint64_t dropped() const { return dropped_; }
  const std::deque<T>& items() const { return items_; }
  std::deque<T>& items() { return items_; }
  std::vector<T> take() { return {std::make_move_iterator(items_.begin()), std::make_move_iterator(items_.end())}; }

 private:
  const size_t most_;
  std::deque<T> items_;
  uint64_t dropped_ = 0;
};

}  // namespace coordkit::sim

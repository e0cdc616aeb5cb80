// A queue that keeps its memory: in a steady state nothing is allocated. References are valid until the next push_back().
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace coordkit {

template <typename T>
class Ring {
 public:
  Ring() = default;
  Ring(Ring&& other) noexcept
      : slots_(std::move(other.slots_)),
        capacity_(std::exchange(other.capacity_, 0)),
        head_(std::exchange(other.head_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  Ring& operator=(Ring&& other) noexcept {
    slots_ = std::move(other.slots_);
    capacity_ = std::exchange(other.capacity_, 0);
    head_ = std::exchange(other.head_, 0);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return slots_[(head_ + i) & (capacity_ - 1)]; }
  const T& operator[](size_t i) const { return slots_[(head_ + i) & (capacity_ - 1)]; }
  T& front() { return slots_[head_]; }
  const T& front() const { return slots_[head_]; }
  T& back() { return (*this)[size_ - 1]; }

  T& push_back(T value) { return push_back() = std::move(value); }
  // Adds an empty element, to be filled.
  T& push_back() {
    if (size_ == capacity_) grow();
    ++size_;
    return back();
  }
  void pop_front() {
    slots_[head_] = T();
    head_ = (head_ + 1) & (capacity_ - 1);
    --size_;
  }
  T take_front() {
    T value = std::move(front());
    pop_front();
    return value;
  }
  void clear() {
    while (!empty()) pop_front();
  }

 private:
  void grow() {
    const size_t capacity = capacity_ == 0 ? 8 : 2 * capacity_;
    auto slots = std::make_unique<T[]>(capacity);
    for (size_t i = 0; i < size_; ++i) slots[i] = std::move((*this)[i]);
    slots_ = std::move(slots);
    capacity_ = capacity;
    head_ = 0;
  }

  std::unique_ptr<T[]> slots_;
  size_t capacity_ = 0;  // a power of two, or zero
  size_t head_ = 0;
  size_t size_ = 0;
};

}  // namespace coordkit

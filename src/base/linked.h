// A list through members of its elements. Nothing is allocated, and removal from the middle costs O(1).
#pragma once

namespace coordkit {

template <typename T, T* T::*kBefore, T* T::*kAfter>
struct Linked {
  T* first = nullptr;
  T* last = nullptr;

  bool empty() const { return first == nullptr; }
  void append(T& element) {
    element.*kBefore = last;
    element.*kAfter = nullptr;
    (last ? last->*kAfter : first) = &element;
    last = &element;
  }
  void remove(T& element) {
    (element.*kBefore ? element.*kBefore->*kAfter : first) = element.*kAfter;
    (element.*kAfter ? element.*kAfter->*kBefore : last) = element.*kBefore;
    element.*kBefore = element.*kAfter = nullptr;
  }
};

// The same without a pointer to the end: elements join at the front, and the list is one pointer.
template <typename T, T* T::*kBefore, T* T::*kAfter>
struct LinkedFront {
  T* first = nullptr;

  bool empty() const { return first == nullptr; }
  void prepend(T& element) {
    element.*kBefore = nullptr;
    element.*kAfter = first;
    if (first) first->*kBefore = &element;
    first = &element;
  }
  void remove(T& element) {
    (element.*kBefore ? element.*kBefore->*kAfter : first) = element.*kAfter;
    if (element.*kAfter) element.*kAfter->*kBefore = element.*kBefore;
    element.*kBefore = element.*kAfter = nullptr;
  }
};

}  // namespace coordkit

// A pointer that counts its users in the object itself. It is half as wide as a std::shared_ptr,
// and needs no block beside the object. The objects behind door 1's handles are kept by the hundred
// thousand.
//
// Threads: any thread may change the count. One Ref is for one thread at a time.
// Lifetime: the last Ref destroys the object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

// The base of every type that a Ref may point to.
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

 protected:
  RefCounted() = default;
  ~RefCounted() = default;

 private:
  template <typename T>
  friend class Ref;
  void add_user() const { users_.fetch_add(1, std::memory_order_relaxed); }
  bool add_user_if_any() const {  // false: it is being destroyed
    uint32_t users = users_.load(std::memory_order_relaxed);
    while (users != 0 && !users_.compare_exchange_weak(users, users + 1, std::memory_order_relaxed)) {
    }
    return users != 0;
  }
  // True: it was the last.
  bool drop_user() const { return users_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  mutable std::atomic<uint32_t> users_{0};
};

// A counted pointer to a RefCounted object. May be null.
template <typename T>
class Ref {
 public:
  Ref() = default;
  // Points to nothing.
  Ref(std::nullptr_t) {}  // NOLINT: like any pointer
  // Becomes a user of `object`, which was made with new. Null: points to nothing.
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->add_user();
  }
  Ref(const Ref& other) : Ref(other.object_) {}  // one user more
  // Leaves `other` null.
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  // Converts from a Ref to a derived type, as pointers do.
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  Ref(Ref<U> other) noexcept : object_(std::exchange(other.object_, nullptr)) {}  // NOLINT: as pointers convert
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr && object_->drop_user()) delete object_;
  }

  // For a caller that knows the object without using it, and keeps its memory alive meanwhile.
  // Null: its last user is gone.
  static Ref if_used(T& object) {
    Ref found;
    if (object.add_user_if_any()) found.object_ = &object;
    return found;
  }

  T* get() const { return object_; }         // valid as long as any Ref to the object; may be null
  T& operator*() const { return *object_; }  // not if it is null
  T* operator->() const { return object_; }  // not if it is null
  // False: null.
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }
  friend bool operator==(const Ref& a, std::nullptr_t) { return a.object_ == nullptr; }

 private:
  template <typename U>
  friend class Ref;
  T* object_ = nullptr;
};

// Makes an object with these arguments, and its first Ref.
template <typename T, typename... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace coordkit

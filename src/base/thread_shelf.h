// An allocator for objects that come and go by the thousand on any thread, each made at once with its count of users
// (std::allocate_shared): every thread keeps some of those that it freed, for the next ones of the same size.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/spare_nodes.h"

namespace coordkit {

class ThreadShelf {
 public:
  static void* take(size_t bytes) {
    NodeShelf* const shelf = here();
    return shelf != nullptr ? shelf->take(bytes) : NodeShelf::make(bytes);
  }
  static void give_back(void* object, size_t bytes) noexcept {
    if (NodeShelf* const shelf = here()) return shelf->give_back(object, bytes);
    ::operator delete(object);
  }

 private:
  static constexpr size_t kKept = 512;  // of each size
  // Null: this thread ends, and its objects are being destroyed.
  static NodeShelf* here() {
    static thread_local Own own;
    return ended ? nullptr : &own.shelf;
  }
  struct Own {
    ~Own() { ended = true; }
    NodeShelf shelf{kKept};
  };
  static inline thread_local constinit bool ended = false;
};

template <typename T>
struct FromThreadShelf {
  using value_type = T;
  FromThreadShelf() = default;
  template <typename U>
  FromThreadShelf(const FromThreadShelf<U>&) {}  // NOLINT: as an allocator must
  T* allocate(size_t count) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return static_cast<T*>(ThreadShelf::take(count * sizeof(T)));
  }
  void deallocate(T* objects, size_t count) noexcept { ThreadShelf::give_back(objects, count * sizeof(T)); }
  friend bool operator==(const FromThreadShelf&, const FromThreadShelf&) { return true; }
};

template <typename T, typename... Args>
std::shared_ptr<T> make_shelved(Args&&... args) {
  return std::allocate_shared<T>(FromThreadShelf<T>(), std::forward<Args>(args)...);
}

}  // namespace coordkit

// Where objects come from that come and go by the thousand on any thread: every thread keeps some of those that it freed, for
// the next ones of the same size.
#pragma once

#include <cstddef>
#include <new>

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

// A base of objects that are made and freed by new and delete.
class OnThreadShelf {
 public:
  static void* operator new(size_t bytes) { return ThreadShelf::take(bytes); }
  static void operator delete(void* object, size_t bytes) noexcept { ThreadShelf::give_back(object, bytes); }
};

}  // namespace coordkit

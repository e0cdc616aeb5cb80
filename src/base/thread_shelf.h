// A source of objects that come and go by the thousand on any thread. Every thread keeps some of the objects that it freed,
// for the next ones of the same size.
//
// A key of pthreads ends a thread's shelf, not a destructor of thread-local storage. If there is no memory to register such a
// destructor, the C library ends the process. Without a shelf, objects come from the heap.
#pragma once

#include <pthread.h>

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
  // Null: there is no memory for a shelf, or this thread ends and its objects are being destroyed.
  static NodeShelf* here() { return own != nullptr || ended ? own : made(); }
  [[gnu::noinline]] static NodeShelf* made() {
    static const Key key;
    auto* const shelf = new (std::nothrow) NodeShelf(kKept);
    if (shelf == nullptr || !key.made || ::pthread_setspecific(key.key, shelf) != 0) {
      delete shelf;
      return nullptr;
    }
    return own = shelf;
  }
  static void end(void* shelf) {
    ended = true;
    own = nullptr;
    delete static_cast<NodeShelf*>(shelf);
  }
  struct Key {
    Key() : made(::pthread_key_create(&key, end) == 0) {}
    ~Key() {
      if (made) ::pthread_key_delete(key);  // this library is unloaded: no thread may call it any more
    }
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;
    pthread_key_t key{};
    const bool made;
  };
  static inline thread_local constinit NodeShelf* own = nullptr;
  static inline thread_local constinit bool ended = false;
};

// A base of objects that are made and freed by new and delete.
class ThreadCached {
 public:
  static void* operator new(size_t bytes) { return ThreadShelf::take(bytes); }
  static void operator delete(void* object, size_t bytes) noexcept { ThreadShelf::give_back(object, bytes); }
};

}  // namespace coordkit

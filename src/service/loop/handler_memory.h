// Memory for a few small handlers of Asio at a time, so that posting one allocates nothing as a rule: a loop can be woken when
// there is no memory. A handler that is too large, or one too many, lies on the heap.
//
// Threads: any. Lifetime: outlives the io_context whose handlers lie in it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

namespace coordkit {

class HandlerMemory {
 public:
  void* take(std::size_t bytes) {
    for (Block& block : blocks_) {
      if (bytes <= kBytes && !block.taken.load(std::memory_order_relaxed) &&
          !block.taken.exchange(true, std::memory_order_acquire))
        return block.bytes;
    }
    return ::operator new(bytes);
  }
  // Whether one more has a place here.
  bool room() const {
    for (const Block& block : blocks_) {
      if (!block.taken.load(std::memory_order_relaxed)) return true;
    }
    return false;
  }
  void give_back(void* memory) {
    for (Block& block : blocks_) {
      if (memory == block.bytes) return block.taken.store(false, std::memory_order_release);
    }
    ::operator delete(memory);
  }

 private:
  static constexpr std::size_t kBytes = 256;
  static constexpr std::size_t kBlocks = 8;
  struct Block {
    alignas(std::max_align_t) std::byte bytes[kBytes];
    std::atomic<bool> taken{false};
  };
  std::array<Block, kBlocks> blocks_;
};

// As a handler's associated allocator.
template <typename T>
class HandlerAllocator {
 public:
  using value_type = T;

  explicit HandlerAllocator(HandlerMemory& memory) : memory_(&memory) {}
  template <typename U>
  HandlerAllocator(const HandlerAllocator<U>& other) : memory_(&other.memory()) {}  // NOLINT: as allocators convert

  T* allocate(std::size_t count) { return static_cast<T*>(memory_->take(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) { memory_->give_back(memory); }
  HandlerMemory& memory() const { return *memory_; }
  template <typename U>
  bool operator==(const HandlerAllocator<U>& other) const {
    return memory_ == &other.memory();
  }

 private:
  HandlerMemory* memory_;
};

// A handler that lies there.
template <typename Run>
class HandlerIn {
 public:
  using allocator_type = HandlerAllocator<Run>;

  HandlerIn(HandlerMemory& memory, Run run) : memory_(&memory), run_(std::move(run)) {}
  allocator_type get_allocator() const noexcept { return allocator_type(*memory_); }
  template <typename... Arguments>
  void operator()(Arguments&&... arguments) {
    run_(std::forward<Arguments>(arguments)...);
  }

 private:
  HandlerMemory* memory_;
  Run run_;
};

}  // namespace coordkit

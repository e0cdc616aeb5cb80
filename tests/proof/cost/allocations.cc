#include "tests/proof/cost/allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COORDKIT_OWN_ALLOCATOR 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COORDKIT_OWN_ALLOCATOR 0
#endif
#endif
#ifndef COORDKIT_OWN_ALLOCATOR
#define COORDKIT_OWN_ALLOCATOR 1
#endif

namespace coordkit::testkit {
namespace {

thread_local uint64_t* counting = nullptr;
std::atomic<uint64_t> live{0};

}  // namespace

bool counts_allocations() { return COORDKIT_OWN_ALLOCATOR != 0; }
uint64_t live_bytes() { return live.load(std::memory_order_relaxed); }

CountAllocations::CountAllocations(uint64_t& count) : previous_(counting) { counting = &count; }
CountAllocations::~CountAllocations() { counting = previous_; }

void* counted(std::size_t size, std::size_t alignment) {
  if (counting != nullptr) ++*counting;
  void* const found = alignment > alignof(std::max_align_t)
                          ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                          : std::malloc(size == 0 ? 1 : size);
  if (found == nullptr) throw std::bad_alloc();
  live.fetch_add(::malloc_usable_size(found), std::memory_order_relaxed);
  return found;
}

void counted_free(void* memory) {
  if (memory == nullptr) return;
  live.fetch_sub(::malloc_usable_size(memory), std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace coordkit::testkit

#if COORDKIT_OWN_ALLOCATOR
void* operator new(std::size_t size) { return coordkit::testkit::counted(size, 1); }
void* operator new[](std::size_t size) { return coordkit::testkit::counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return coordkit::testkit::counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { coordkit::testkit::counted_free(memory); }
void operator delete[](void* memory) noexcept { coordkit::testkit::counted_free(memory); }
void operator delete(void* memory, std::size_t) noexcept { coordkit::testkit::counted_free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { coordkit::testkit::counted_free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { coordkit::testkit::counted_free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { coordkit::testkit::counted_free(memory); }
#endif

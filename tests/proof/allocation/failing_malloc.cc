#include "tests/proof/allocation/failing_malloc.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unwind.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COORDKIT_OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COORDKIT_OWN_MALLOC 0
#endif
#endif
#ifndef COORDKIT_OWN_MALLOC
#define COORDKIT_OWN_MALLOC 1
#endif

namespace coordkit::testkit {
namespace {

constexpr size_t kThreadsMax = 32;
constexpr size_t kStacks = 1 << 18;
constexpr uint64_t kPassedByMax = 10'000;  // by others than the thread whose turn it is
constexpr std::string_view kOurs = "coordkit/";
constexpr char kUnnamed[16] = "(no name yet)";

struct Thread {
  std::atomic<uint64_t> name[2];  // 16 bytes; zero: free
  std::atomic<uint64_t> allocations;
  std::atomic<uint64_t> failed;
};

struct Shared {
  std::atomic<bool> armed;
  std::atomic<uint64_t> also;
  std::atomic<int> depth;
  std::atomic<uint64_t> part;
  std::atomic<uint64_t> parts;
  std::atomic<uint64_t> failures;
  std::atomic<size_t> turn;         // the thread whose allocations fail first
  std::atomic<uint64_t> passed_by;  // allocations of other threads since the arming
  std::atomic<uint64_t> passed_by_max;
  Thread threads[kThreadsMax];
  FailedAllocation last;
  std::atomic<uint64_t> stacks[kStacks];  // hashes; zero: free
};

Shared* shared = nullptr;

thread_local bool inside = false;     // of this file
thread_local bool hosts = false;      // a thread of the host's
thread_local Thread* mine = nullptr;  // null: not known yet
thread_local uint64_t fail_also = 0;

Thread* thread_named(const char (&name)[16]) {
  uint64_t words[2];
  std::memcpy(words, name, sizeof words);
  for (Thread& one : shared->threads) {
    uint64_t found = 0;
    if (one.name[0].compare_exchange_strong(found, words[0])) one.name[1] = words[1];
    if (one.name[0] == words[0] && one.name[1] == words[1]) return &one;
  }
  return nullptr;
}

// A thread has its name soon after it has begun.
Thread* this_thread() {
  if (mine != nullptr) return mine;
  char name[16] = {};
  ::prctl(PR_GET_NAME, name);
  if (!std::string_view(name, sizeof name).starts_with(kOurs)) return thread_named(kUnnamed);
  return mine = thread_named(name);
}

struct Walk {
  uintptr_t* stack;
  int frames;
  int most;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  if (walk.frames == walk.most) return _URC_END_OF_STACK;
  walk.stack[walk.frames++] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

enum class Look : uint8_t { Only, Add };

// Whether this stack has failed before.
bool known(uint64_t hash, Look look) {
  hash = std::max<uint64_t>(hash, 1);
  for (size_t at = hash % kStacks, tries = 0; tries < kStacks; at = (at + 1) % kStacks, ++tries) {
    uint64_t found = shared->stacks[at];
    if (found == 0 && look == Look::Add) shared->stacks[at].compare_exchange_strong(found, hash);
    if (found == 0) return false;
    if (found == hash) return true;
  }
  return true;
}

bool fails(size_t bytes) {
  Thread* const thread = this_thread();
  if (thread == nullptr) return false;
  thread->allocations.fetch_add(1, std::memory_order_relaxed);
  if (fail_also > 0) return fail_also--, true;
  if (!shared->armed.load(std::memory_order_relaxed)) return false;
  if (static_cast<size_t>(thread - shared->threads) != shared->turn && shared->passed_by++ < shared->passed_by_max)
    return false;
  uintptr_t stack[FailedAllocation::kFramesMax];
  Walk walk{stack, 0, std::min<int>(shared->depth, FailedAllocation::kFramesMax)};
  _Unwind_Backtrace(step, &walk);
  uint64_t hash = static_cast<uint64_t>(thread - shared->threads) + 0x9e3779b97f4a7c15;
  for (int i = 0; i < walk.frames; ++i) hash = (hash ^ stack[i]) * 0x100000001b3, hash ^= hash >> 29;
  if (hash % shared->parts != shared->part || known(hash, Look::Only)) return false;
  bool armed = true;
  if (!shared->armed.compare_exchange_strong(armed, false)) return false;  // another thread's turn
  known(hash, Look::Add);
  thread->failed.fetch_add(1, std::memory_order_relaxed);
  FailedAllocation& last = shared->last;
  ::prctl(PR_GET_NAME, last.thread);
  last.bytes = bytes;
  last.frames = walk.frames;
  std::copy(stack, stack + walk.frames, last.stack);
  last.number = shared->failures.fetch_add(1) + 1;
  fail_also = shared->also;
  return true;
}

}  // namespace

bool replaces_malloc() { return COORDKIT_OWN_MALLOC != 0; }

void share_failures() {
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  shared = new (memory) Shared();
  shared->depth = FailedAllocation::kFramesMax;
  shared->parts = 1;
}

void arm_failures(uint64_t also, std::string_view first) {
  shared->also = also;
  shared->passed_by = 0;
  shared->passed_by_max = first.empty() ? kPassedByMax : UINT64_MAX;
  if (first.empty()) {
    const size_t next = shared->turn + 1;
    shared->turn = next < kThreadsMax && shared->threads[next].name[0] != 0 ? next : 0;
  } else {
    char name[16] = {};
    first.copy(name, sizeof name - 1);
    if (const Thread* thread = thread_named(name)) shared->turn = static_cast<size_t>(thread - shared->threads);
  }
  shared->armed = true;
}
void disarm_failures() { shared->armed = false; }
bool failures_armed() { return shared->armed; }
uint64_t failures() { return shared->failures; }
FailedAllocation last_failure() { return shared->last; }
void set_stack_depth(int frames) { shared->depth = frames; }
void set_part(uint64_t part, uint64_t parts) {
  shared->part = part;
  shared->parts = parts;
}
void never_fail_here() { hosts = true; }

std::vector<ThreadTally> thread_tallies() {
  std::vector<ThreadTally> out;
  for (const Thread& one : shared->threads) {
    if (one.name[0] == 0) break;
    char name[17] = {};
    const uint64_t words[2] = {one.name[0], one.name[1]};
    std::memcpy(name, words, sizeof words);
    out.push_back({name, one.allocations, one.failed});
  }
  return out;
}

bool malloc_fails(size_t bytes);
bool malloc_fails(size_t bytes) {
  if (shared == nullptr || hosts || inside) return false;
  inside = true;
  const bool now = fails(bytes);
  inside = false;
  if (now) errno = ENOMEM;
  return now;
}

}  // namespace coordkit::testkit

#if COORDKIT_OWN_MALLOC
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* memory);

void* malloc(size_t bytes) { return coordkit::testkit::malloc_fails(bytes) ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) {
  return coordkit::testkit::malloc_fails(count * bytes) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  return coordkit::testkit::malloc_fails(bytes) ? nullptr : __libc_realloc(memory, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  return coordkit::testkit::malloc_fails(bytes) ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  void* const found = memalign(alignment, bytes);
  if (found == nullptr) return ENOMEM;
  *memory = found;
  return 0;
}
void free(void* memory) { __libc_free(memory); }
}
#endif

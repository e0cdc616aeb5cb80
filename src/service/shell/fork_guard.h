// Tells whether this process is a fork of the one that opened the replica (docs/faults.md P19). The child has a copy of every
// handle and none of the threads: its beliefs would never be corrected, and what it sent would be taken for its parent's.
//
// A page that the kernel empties in every child (MADV_WIPEONFORK) answers with one load, about a nanosecond, however the child
// was made. getpid() is a system call of some hundred nanoseconds, several times what valid() costs otherwise. pthread_atfork
// handlers can neither be taken back nor see a bare clone(). Kernels before 4.14 lack the page; there getpid() serves. A child
// of vfork() shares the page with its parent and looks like it, as it should: it may only exec.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace coordkit {

class ForkGuard {
 public:
  ForkGuard() : pid_(::getpid()) {
    void* page = ::mmap(nullptr, sizeof(Mark), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (::madvise(page, sizeof(Mark), MADV_WIPEONFORK) != 0) {
      ::munmap(page, sizeof(Mark));
      return;
    }
    mark_ = new (page) Mark(1);
  }
  ~ForkGuard() {
    if (mark_ != nullptr) ::munmap(mark_, sizeof(Mark));
  }
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  bool forked() const { return mark_ != nullptr ? mark_->load(std::memory_order_relaxed) == 0 : ::getpid() != pid_; }

 private:
  using Mark = std::atomic<int>;
  Mark* mark_ = nullptr;  // null: the kernel has no such page
  pid_t pid_;
};

}  // namespace coordkit

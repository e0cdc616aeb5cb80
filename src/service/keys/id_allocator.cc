#include "coordkit/keys/id_allocator.h"

#include <algorithm>
#include <utility>

#include "service/objects/object_access.h"
#include "service/shell/host.h"

namespace coordkit {

IdAllocator::IdAllocator(const Service& service, std::string counter, int64_t block)
    : host_(HandleAccess::host(service)), counter_(service, std::move(counter)), block_(std::max<int64_t>(block, 1)) {}

absl::StatusOr<int64_t> IdAllocator::next() {
  if (host_->forked()) return forked_away();  // before the lock: another thread of the parent may have it
  std::unique_lock lock(mutex_, std::defer_lock);
  if (absl::Status refused = refusal_to_wait(*host_); refused.ok()) {
    lock.lock();
  } else if (!lock.try_lock()) {  // the thread that has it may wait for this one
    return refused;
  }
  if (left_ == 0) {
    const absl::StatusOr<int64_t> first = counter_.allocate(block_);
    if (!first.ok()) return first.status();
    last_ = *first + (block_ - 1);
    left_ = block_;
  }
  return last_ - --left_;
}

}  // namespace coordkit

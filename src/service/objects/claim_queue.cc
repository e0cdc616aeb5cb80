#include "coordkit/objects/claim_queue.h"

#include "service/objects/object_access.h"

namespace coordkit {
namespace {

ClaimOptions options_of(const ClaimWanted& wanted) {
  return {.wait = wait_for_up_to(wanted.timeout), .term = wanted.term, .deadline = {}};
}

WorkItem work_of(Session session, ClaimedItem claimed) {
  return {.grant = HandleAccess::grant(std::move(session), std::move(claimed.hold)),
          .id = claimed.item,
          .deliveries = claimed.deliveries,
          .value = std::move(claimed.value)};
}

}  // namespace

AsyncCall ClaimQueue::enqueue_async(std::string value, int64_t priority, Callback<Index> done) {
  return begin_of(session_, std::move(done), &CoordinationCalls::enqueue, name_, std::move(value), priority);
}

AsyncCall ClaimQueue::claim_async(ClaimWanted wanted, Callback<WorkItem> done) {
  Callback<ClaimedItem> answer = [self = session_, done = std::move(done)](absl::StatusOr<ClaimedItem> claimed) mutable {
    if (!claimed.ok()) return tell(std::move(done), claimed.status());
    tell(std::move(done), work_of(std::move(self), *std::move(claimed)));
  };
  return begin_of(session_, std::move(answer), &CoordinationCalls::claim, kSession, name_, options_of(wanted));
}

AsyncCall ClaimQueue::acknowledge_async(const WorkItem& item, DoneCallback done) {
  return begin_end_of(session_, item.grant, std::move(done), &CoordinationCalls::acknowledge);
}

AsyncCall ClaimQueue::peek_async(uint64_t limit, Callback<ItemQueueInfo> done) const {
  return begin_of(session_, std::move(done), &CoordinationCalls::item_queue, name_, limit);
}

// ---- the same, blocking

absl::StatusOr<Index> ClaimQueue::enqueue(std::string value, int64_t priority) {
  return wait_of(session_, *this, &ClaimQueue::enqueue_async, std::move(value), priority);
}

absl::StatusOr<WorkItem> ClaimQueue::claim(ClaimWanted wanted) {
  return wait_of(session_, *this, &ClaimQueue::claim_async, wanted);
}

absl::Status ClaimQueue::acknowledge(const WorkItem& item) {
  return wait_of(session_, *this, &ClaimQueue::acknowledge_async, item);
}

absl::StatusOr<ItemQueueInfo> ClaimQueue::peek(uint64_t limit) const {
  return wait_of(session_, *this, &ClaimQueue::peek_async, limit);
}

}  // namespace coordkit

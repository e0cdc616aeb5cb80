#include "coordkit/claim_queue.h"

#include "replica/coordination.h"

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
  return begin_of<absl::StatusOr<Index>>(
      session_,
      [name = name_, value = std::move(value), priority](CoordinationCalls calls, const SessionRef&,
                                                         Callback<Index> answer) mutable {
        return calls.enqueue(name, std::move(value), priority, std::move(answer));
      },
      std::move(done));
}

AsyncCall ClaimQueue::claim_async(ClaimWanted wanted, Callback<WorkItem> done) {
  Callback<ClaimedItem> answer = [self = session_, done = std::move(done)](absl::StatusOr<ClaimedItem> claimed) mutable {
    if (!claimed.ok()) return std::move(done)(claimed.status());
    std::move(done)(work_of(std::move(self), *std::move(claimed)));
  };
  return begin_of<absl::StatusOr<ClaimedItem>>(
      session_,
      [name = name_, wanted](CoordinationCalls calls, const SessionRef& session, Callback<ClaimedItem> next) {
        return calls.claim(session, name, options_of(wanted), std::move(next));
      },
      std::move(answer));
}

AsyncCall ClaimQueue::acknowledge_async(const WorkItem& item, DoneCallback done) {
  return begin_of<absl::Status>(
      session_,
      [hold = HandleAccess::hold(item.grant)](CoordinationCalls calls, const SessionRef&, DoneCallback answer) {
        return calls.acknowledge(hold, std::move(answer));
      },
      std::move(done));
}

AsyncCall ClaimQueue::peek_async(uint64_t limit, Callback<ItemQueueInfo> done) const {
  return begin_of<absl::StatusOr<ItemQueueInfo>>(
      session_,
      [name = name_, limit](CoordinationCalls calls, const SessionRef&, Callback<ItemQueueInfo> answer) {
        return calls.item_queue(name, limit, std::move(answer));
      },
      std::move(done));
}

// ---- the same, blocking

absl::StatusOr<Index> ClaimQueue::enqueue(std::string value, int64_t priority) {
  return wait_of<absl::StatusOr<Index>>(
      session_, [&](Callback<Index> done) { enqueue_async(std::move(value), priority, std::move(done)); });
}

absl::StatusOr<WorkItem> ClaimQueue::claim(ClaimWanted wanted) {
  return wait_of<absl::StatusOr<WorkItem>>(session_, [&](Callback<WorkItem> done) { claim_async(wanted, std::move(done)); });
}

absl::Status ClaimQueue::acknowledge(const WorkItem& item) {
  return wait_of<absl::Status>(session_, [&](DoneCallback done) { acknowledge_async(item, std::move(done)); });
}

absl::StatusOr<ItemQueueInfo> ClaimQueue::peek(uint64_t limit) const {
  return wait_of<absl::StatusOr<ItemQueueInfo>>(session_,
                                                [&](Callback<ItemQueueInfo> done) { peek_async(limit, std::move(done)); });
}

}  // namespace coordkit

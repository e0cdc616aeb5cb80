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

absl::StatusOr<Index> ClaimQueue::enqueue(std::string value, int64_t priority) {
  return call_of<Index>(session_, [name = name_, value = std::move(value), priority](CoordinationCalls calls, const SessionRef&,
                                                                                     Callback<Index> done) mutable {
    calls.enqueue(name, std::move(value), priority, std::move(done));
  });
}

absl::StatusOr<WorkItem> ClaimQueue::claim(ClaimWanted wanted) {
  absl::StatusOr<ClaimedItem> claimed = call_of<ClaimedItem>(
      session_, [name = name_, wanted](CoordinationCalls calls, const SessionRef& session, Callback<ClaimedItem> done) {
        calls.claim(session, name, options_of(wanted), std::move(done));
      });
  if (!claimed.ok()) return claimed.status();
  return work_of(session_, *std::move(claimed));
}

void ClaimQueue::claim_async(ClaimWanted wanted, absl::AnyInvocable<void(absl::StatusOr<WorkItem>)> done) {
  Callback<ClaimedItem> answer = [self = session_, done = std::move(done)](absl::StatusOr<ClaimedItem> claimed) mutable {
    if (!claimed.ok()) return std::move(done)(claimed.status());
    std::move(done)(work_of(std::move(self), *std::move(claimed)));
  };
  post_call(session_, std::move(answer),
            [name = name_, wanted](CoordinationCalls calls, const SessionRef& session, Callback<ClaimedItem> next) {
              calls.claim(session, name, options_of(wanted), std::move(next));
            });
}

absl::Status ClaimQueue::acknowledge(const WorkItem& item) {
  return call_done(session_,
                   [hold = HandleAccess::hold(item.grant)](CoordinationCalls calls, const SessionRef&, DoneCallback done) {
                     calls.acknowledge(hold, std::move(done));
                   });
}

absl::StatusOr<ItemQueueInfo> ClaimQueue::peek(uint64_t limit) const {
  return call_of<ItemQueueInfo>(
      session_, [name = name_, limit](CoordinationCalls calls, const SessionRef&, Callback<ItemQueueInfo> done) {
        calls.item_queue(name, limit, std::move(done));
      });
}

}  // namespace coordkit

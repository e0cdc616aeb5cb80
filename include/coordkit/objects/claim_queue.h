// A queue of work: each item goes to one session at a time and is done once. Items are ordered by
// priority, and claims end with their session.
//
// A session claims an item, works on it and acknowledges it, which deletes it. If the claimer dies,
// gives the item up or takes longer than the claim's term, the item returns to its original place
// and goes to the next claimer. So an item may be worked on more than once: pass the claim's token
// to anything that an old claimer must not do (fence.h).
//
// Threads: all methods are thread-safe.
// Example: examples/04_work_queue.
#pragma once

#include <cstdint>
#include <string>

#include "coordkit/client/coordination.h"
#include "coordkit/export.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

// Options of ClaimQueue::claim().
struct ClaimWanted {
  Duration timeout = kForever;  // how long to wait for an item; zero: not at all
  Duration term{};              // after this time the item goes back; zero: only with the session
};

// A claimed item. Its destruction gives the item back.
struct WorkItem {
  Grant grant;              // valid() covers the session, not the term
  Index id;                 // in the order of queueing
  uint64_t deliveries = 0;  // earlier deliveries that were not acknowledged
  std::string value;        // as it was enqueued
};

class ClaimQueue {
 public:
  // The queue `name` of this session. Makes no call.
  ClaimQueue(Session session, std::string name) : session_(std::move(session)), name_(std::move(name)) {}

  // Answers the item's id. Lower priority numbers are handed out first. The value has at most 64
  // KiB. The item outlives the session. kDeadlineExceeded (CallTimeout): the item may be queued.
  absl::StatusOr<Index> enqueue(std::string value, int64_t priority = 0);
  // kDeadlineExceeded (WaitTimeout), kFailedPrecondition (Held: timeout zero and there is nothing),
  // kAborted (Lost).
  absl::StatusOr<WorkItem> claim(ClaimWanted wanted = {});
  // Acknowledges that the item is done, which deletes it. Its grant is invalid from this call on,
  // except after InCallback. The grant may be destroyed while the asynchronous form runs. To give
  // the item back instead: item.grant.release().
  // Errors: kFailedPrecondition (NotOwner): the item had gone back before, and another session may
  // have it. No effect (NONE), also if the call is cancelled before it was sent: the item goes
  // back. kDeadlineExceeded (CallTimeout): the call continues in the background.
  absl::Status acknowledge(const WorkItem& item);

  // Answers the number of items, and the next ones in order. Linearizable.
  absl::StatusOr<ItemQueueInfo> peek(uint64_t limit = 100) const;

  // The same without blocking. Callbacks run on the engine's thread, where nothing may block. How
  // to cancel a call: call.h.
  AsyncCall enqueue_async(std::string value, int64_t priority, Callback<Index> done);
  AsyncCall claim_async(ClaimWanted wanted, Callback<WorkItem> done);
  AsyncCall acknowledge_async(const WorkItem& item, DoneCallback done);
  AsyncCall peek_async(uint64_t limit, Callback<ItemQueueInfo> done) const;

 private:
  Session session_;
  std::string name_;
};

}  // namespace coordkit

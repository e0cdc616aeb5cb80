// Work that is handed out to one at a time and done once: items by priority, claims that end with their session.
//
// A session claims an item, works on it and acknowledges it, which deletes it. If the claimer dies, gives up or takes longer
// than the claim's term, the item is back in its original place and goes to the next. So an item may be worked on more than
// once: pass the claim's token to what must not be done by an old claimer (fence.h). Threads: all methods are thread-safe.
// Example: examples/04_work_queue.
#pragma once

#include <cstdint>
#include <string>

#include "coordkit/client/coordination.h"
#include "coordkit/export.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

struct ClaimWanted {
  Duration timeout = kForever;  // how long to wait for an item; zero: not at all
  Duration term{};              // after this time the item goes back by itself; zero: only with the session
};

// An item in hand. Going out of scope gives it back.
struct WorkItem {
  Grant grant;              // valid() covers the session, not the term
  Index id;                 // in the order of queueing
  uint64_t deliveries = 0;  // earlier ones that were not acknowledged
  std::string value;
};

class ClaimQueue {
 public:
  ClaimQueue(Session session, std::string name) : session_(std::move(session)), name_(std::move(name)) {}

  // Answers the item's id. Lower priority numbers are handed out first. The value has at most 64 KiB. The item outlives the
  // session. kDeadlineExceeded (CallTimeout): it may be queued.
  absl::StatusOr<Index> enqueue(std::string value, int64_t priority = 0);
  // kDeadlineExceeded (WaitTimeout), kFailedPrecondition (Held: timeout zero and there is nothing), kAborted (Lost).
  absl::StatusOr<WorkItem> claim(ClaimWanted wanted = {});
  // The item is done and deleted. Its grant is not valid from this call on, but for InCallback, and may go while the
  // asynchronous form is under way. kFailedPrecondition (NotOwner): it had gone back before, and another session may have it.
  // No effect (NONE), as when it is cancelled before it was sent: the item goes back.
  // kDeadlineExceeded (CallTimeout): goes on behind the scenes. To give it back instead: item.grant.release().
  absl::Status acknowledge(const WorkItem& item);

  // How many there are, and the next ones in order; linearizable.
  absl::StatusOr<ItemQueueInfo> peek(uint64_t limit = 100) const;

  // The same without blocking. Answered on the engine's thread, where nothing may block; to cancel one: call.h.
  AsyncCall enqueue_async(std::string value, int64_t priority, Callback<Index> done);
  AsyncCall claim_async(ClaimWanted wanted, Callback<WorkItem> done);
  AsyncCall acknowledge_async(const WorkItem& item, DoneCallback done);
  AsyncCall peek_async(uint64_t limit, Callback<ItemQueueInfo> done) const;

 private:
  Session session_;
  std::string name_;
};

}  // namespace coordkit

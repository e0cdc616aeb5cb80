// A watch of the revisioned store: every change of a key, an interval or a prefix, in order, each once, read as it comes or
// delivered to an observer. What batches hold and what a watch guarantees: client/watch.h and docs/semantics.md S-21 to S-28.
//
//   Watch watch(replica, WatchOptions::prefix("config/"));
//   while (absl::StatusOr<WatchBatch> batch = watch.next()) ...
//
// Threads: any; batches go to one reader each, the end to all. Lifetime: ends with this object; may outlive the replica (then
// it ends with Stopped, or with ReplicaFailed once that has halted).
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "coordkit/client/watch.h"
#include "coordkit/export.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

class Replica;

class Watch {
 public:
  Watch() = default;  // watches nothing
  // Errors of the options come as its end: EmptyRange, InvalidArgument.
  Watch(const Replica& replica, WatchOptions options);
  // The observer runs on the replica's callback thread and must not block for long; what it keeps of a batch takes room.
  Watch(const Replica& replica, WatchOptions options, WatchObserver observer);
  Watch(Watch&&) noexcept = default;
  Watch& operator=(Watch&&) noexcept = default;
  ~Watch() = default;  // ends it; one call of the observer may still be under way

  // The next batch: Created first, then Events, Progress and Pending. kDeadlineExceeded (CallTimeout): none came in time, and
  // none is lost. Once the watch has ended and everything before was read: why, again and again; kOutOfRange (Compacted) says
  // from which revision to begin anew. kInvalidArgument: it has an observer. kFailedPrecondition (InCallback): this is a
  // callback of the replica.
  absl::StatusOr<WatchBatch> next(Duration timeout = kForever);
  // A Progress batch comes when everything before has been delivered; Pending if its start does not exist yet.
  void ask_progress() const;
  // Nothing comes after the answer, also what has not been read yet. kNotFound (WatchNotFound): it has ended.
  // kFailedPrecondition (InCallback): this is an *_async callback; it goes on.
  absl::Status end();

 private:
  struct Rep;
  std::shared_ptr<Rep> rep_;
};

}  // namespace coordkit

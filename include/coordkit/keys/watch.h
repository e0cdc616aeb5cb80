// A watch of the revisioned store: every change of a key, an interval or a prefix, in order, each
// once. Read the changes as they come, or have them delivered to an observer. The contents of
// batches and the guarantees of a watch: client/watch_events.h and docs/semantics.md S-21 to S-28.
//
//   Watch watch(replica, WatchOptions::prefix("config/"));
//   while (absl::StatusOr<WatchBatch> batch = watch.next()) ...
//
// Threads: any. Batches go to one reader each, the end to all.
// Lifetime: ends with this object, or with end(). It may outlive the replica (then it ends with
// Stopped, or with ReplicaFailed if the replica has halted).
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "coordkit/client/watch_events.h"
#include "coordkit/export.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

class Service;

class Watch {
 public:
  Watch();  // watches nothing
  // Errors of the options come as its end: EmptyRange, InvalidArgument.
  Watch(const Service& service, WatchOptions options);
  // The observer runs on the replica's callback thread and must not block for long. The parts of a
  // batch that it keeps take room. How its calls end: observation.h.
  Watch(const Service& service, WatchOptions options, WatchObserver observer);
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;  // ends this one
  ~Watch();                            // end()

  // Answers the next batch: Created first, then Events, Progress and Pending. kDeadlineExceeded
  // (CallTimeout): none came in time, and none is lost. After the watch has ended and all earlier
  // batches are read, every call answers the reason; kOutOfRange (Compacted) says from which
  // revision to start again. kInvalidArgument: it has an observer. kFailedPrecondition
  // (InCallback): this is a callback of the replica.
  absl::StatusOr<WatchBatch> next(Duration timeout = kForever);
  // Asks for a Progress batch, which comes when everything before has been delivered. Pending comes
  // instead if its start does not exist yet.
  void ask_progress() const;
  // Nothing comes after it, not even batches that have not been read yet: next() returns
  // kFailedPrecondition (Closed). Waits for a running call of the observer, as Observation::end()
  // does. May be called again.
  void end();

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace coordkit

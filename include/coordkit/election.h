// One leader at a time, known to all: a lock with a value, under the lock's name and with its guarantees.
//
// Leadership is a Grant: valid() tells the leader by its own clock whether it still leads, token() fences what it does
// (fence.h). It ends with the grant or with the session. Each Election object, with its copies, is an owner of its own
// (docs/semantics.md S-49). So a process may lead one shard, be a candidate for others and take locks, all in one session, and
// no candidacy is taken for a deadlock. Two objects of one session are two candidates. Threads: all methods are thread-safe.
// Example: examples/03_leader.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "coordkit/client/coordination.h"
#include "coordkit/export.h"
#include "coordkit/observation.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

struct ElectionOptions {
  // The thread of control that campaigns: LockOptions::owner. Empty: an owner of its own, which has nothing else and so closes
  // no circle of waits.
  std::string owner = {};
  // LockOptions::no_deadlock_check; it has no effect on an owner of its own.
  bool no_deadlock_check = false;
};

class Election {
 public:
  // `session` without a session: every call is kFailedPrecondition (Closed).
  Election(Session session, std::string name, ElectionOptions options = {});

  // Waits until this session leads, shown to all with `value` (at most 4 KiB), or until `stop` stops: kCancelled, unless it
  // leads already. Errors as of Session::acquire; a session that ends meanwhile gets kAborted (Lost), at once, and never leads.
  // kAlreadyExists (AlreadyHeld, AlreadyWaiting): it leads, or campaigns, by this very object.
  absl::StatusOr<Grant> campaign(std::string value = {}, Duration timeout = kForever, std::stop_token stop = {});
  // For a caller that may lead already: proclaims `value` under the leadership in hand, or, if that is over or was never there,
  // campaigns and puts the new one into `leadership`. Answers the token it leads with. kAlreadyExists (AlreadyHeld): it leads
  // by another grant than this.
  absl::StatusOr<Token> campaign_or_proclaim(Grant& leadership, std::string value, Duration timeout = kForever,
                                             std::stop_token stop = {});
  // Another value, the same token. kFailedPrecondition (NotOwner): it does not lead any more.
  absl::Status proclaim(const Grant& leadership, std::string value);
  absl::Status resign(Grant leadership) { return leadership.release(); }

  absl::StatusOr<std::optional<LeaderInfo>> leader() const;  // linearizable; nothing: vacant
  // Every leader and every proclamation in order, and vacancy. One leader that follows another at once leaves none between.
  [[nodiscard]] Observation observe(Observer<LeaderSeen> observer) const;

  // The same without blocking. Answered on the engine's thread, where nothing may block; to cancel one: call.h.
  AsyncCall campaign_async(std::string value, Duration timeout, Callback<Grant> done);
  AsyncCall proclaim_async(const Grant& leadership, std::string value, DoneCallback done);
  AsyncCall leader_async(Callback<std::optional<LeaderInfo>> done) const;

 private:
  LockOptions candidacy(std::string value, Duration timeout) const;

  Session session_;
  std::string name_;
  ElectionOptions options_;
};

}  // namespace coordkit

// One leader at a time, known to all: a lock with a value, under the lock's name and with its
// guarantees.
//
// Leadership is a Grant. By the leader's own clock, valid() says whether it still leads; token()
// fences its actions (fence.h). Leadership ends with the grant or with the session. Each Election
// object, together with its copies, is a separate owner (docs/semantics.md S-49). So a process may
// lead one shard, be a candidate for others and take locks, all in one session, and no candidacy is
// mistaken for a deadlock. Two objects of one session are two candidates.
//
// Threads: all methods are thread-safe.
// Example: examples/03_leader.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "coordkit/client/coordination.h"
#include "coordkit/export.h"
#include "coordkit/objects/observation.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

// Options of an Election.
struct ElectionOptions {
  // The thread of control that campaigns: LockOptions::owner. Empty: a separate owner, which holds
  // nothing else and so closes no circle of waits.
  std::string owner = {};
  // LockOptions::no_deadlock_check. It has no effect on a separate owner.
  bool no_deadlock_check = false;
};

class Election {
 public:
  // `session` without a session: every call is kFailedPrecondition (Closed).
  Election(Session session, std::string name, ElectionOptions options = {});

  // Waits until this session leads, or until `stop` stops. All see the leader with `value` (at most
  // 4 KiB). When stopped it answers kCancelled, unless it leads already.
  // Errors: as Session::acquire. If the session ends meanwhile: kAborted (Lost), at once, and it
  // never leads. kAlreadyExists (AlreadyHeld, AlreadyWaiting): this very object leads or campaigns.
  absl::StatusOr<Grant> campaign(std::string value = {}, Duration timeout = kForever, std::stop_token stop = {});
  // For a caller that may lead already: proclaims `value` under `leadership`. If that leadership is
  // over or never existed, it campaigns and puts the new grant into `leadership`. Answers the token
  // it leads with. kAlreadyExists (AlreadyHeld): it leads by another grant than this.
  absl::StatusOr<Token> campaign_or_proclaim(Grant& leadership, std::string value, Duration timeout = kForever,
                                             std::stop_token stop = {});
  // Proclaims another value under the same token. kFailedPrecondition (NotOwner): it does not lead
  // any more.
  absl::Status proclaim(const Grant& leadership, std::string value);
  absl::Status resign(Grant leadership) { return leadership.release(); }  // leads no more

  absl::StatusOr<std::optional<LeaderInfo>> leader() const;  // linearizable; nullopt: vacant
  // Reports every leader and every proclamation in order, and vacancy. No vacancy is reported
  // between two leaders that follow each other at once.
  [[nodiscard]] Observation observe(Observer<LeaderSeen> observer) const;

  // The same without blocking. Callbacks run on the engine's thread, where nothing may block. How
  // to cancel a call: call.h.
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

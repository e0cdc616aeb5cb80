// A session that is opened again whenever it was lost, and registered again before any caller gets
// it. It is the loop that every service writes around Service::open_session(), with pauses that
// grow.
//
//   KeptSession session(*replica, {.ttl = 5s, .prepare = [&](Session& fresh) {
//     return Registry(*replica, "services/web/").join(fresh, address).status();
//   }});
//   absl::StatusOr<Session> now = session.wait(10s);  // the present one, as soon as there is one
//
// Grants, memberships and the keys that a session keeps end with it. So code that works under it
// calls current() or wait() again once it is lost(), and acquires again. No two of its sessions are
// live here at once. The log may still have the previous one until its TTL has passed, so a new
// session waits for the locks of the old one like any other.
//
// Threads: all methods are thread-safe. `prepare` and `on_failure` run on the replica's callback
// thread, one at a time. They may block, but that delays other callbacks, so give their calls
// timeouts.
// Lifetime: end() and the destructor wait for a running call of either callback, as
// Observation::end() does (observation.h). It may outlive the replica, and has then ended.
// Example: examples/11_discovery.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

class Service;

// Options of a KeptSession.
struct KeptSessionOptions {
  // These four are those of SessionOptions, for each session. `timeout` covers each attempt to open
  // one.
  Duration ttl = std::chrono::seconds(5);
  std::string metadata = {};
  Duration timeout = std::chrono::seconds(10);
  Duration give_up = {};
  // Makes a new session ready for use: registers the service, joins a group. An error closes the
  // session and counts as a failed attempt. So does an exception, which ReplicaOptions::on_error
  // gets too. Unset: a new session is ready at once.
  std::function<absl::Status(Session& fresh)> prepare = {};
  // Called before a pause, with the reason why there is no session: the previous one was lost
  // (Lost), or the status of a failed attempt. So it is never called more often than the pauses
  // allow.
  std::function<void(const absl::Status& why)> on_failure = {};
  // The pause before an attempt: at first about `backoff_min`, then doubled up to `backoff_max`. It
  // is drawn at random between half of that and the whole, so that processes that lost their
  // sessions together do not return together. After a session that lived longer than `backoff_max`
  // the pauses begin with `backoff_min` again. Legal: above zero, `backoff_max` not below
  // `backoff_min` and at most a day.
  Duration backoff_min = std::chrono::milliseconds(100);
  Duration backoff_max = std::chrono::seconds(10);  // the longest pause; see above
};

class KeptSession {
 public:
  // Begins to open the first session, without a pause, and does not wait for it.
  explicit KeptSession(const Service& service, KeptSessionOptions options = {});
  ~KeptSession();  // end()
  KeptSession(const KeptSession&) = delete;
  KeptSession& operator=(const KeptSession&) = delete;

  // The present session. It was valid when it was opened; ask it whether it still is. An empty
  // session (every call is kFailedPrecondition) while there is no session, or none is ready yet.
  Session current() const;
  // Waits for the present session. kDeadlineExceeded (CallTimeout, no effect): no session was ready
  // in time; the sentence says why the last attempt failed. kFailedPrecondition (InCallback): there
  // is no session, and this is a callback of the replica, or the only thread of an executor.
  // Otherwise the reason why there will be no other session:
  // - kInvalidArgument, kOutOfRange (TtlTooLarge): the options.
  // - kFailedPrecondition (Closed): it was ended here, or the replica is closed.
  // - kUnavailable (Stopped): the replica was closed meanwhile.
  // - kDataLoss (ReplicaFailed): the replica has halted.
  absl::StatusOr<Session> wait(Duration timeout = std::chrono::seconds(10)) const;
  // From here on no session is opened, and neither callback is called. The present session is
  // closed once its last copy and its last grant are gone. May be called again.
  void end();

 private:
  struct Rep;
  std::shared_ptr<Rep> rep_;
};

}  // namespace coordkit

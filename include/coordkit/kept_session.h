// A session that is opened again whenever it was lost, and registered again before anybody gets it: the loop that every service
// writes around Replica::open_session(), with pauses that grow.
//
//   KeptSession session(*replica, {.ttl = 5s, .prepare = [&](Session& fresh) {
//                                    return Registry(*replica, "services/web/").join(fresh, address).status();
//                                  }});
//   absl::StatusOr<Session> now = session.wait(10s);  // the present one, as soon as there is one
//
// Grants, memberships and the keys that a session keeps end with it. So code that works under it asks current() or wait() again
// once it is lost(), and acquires again. No two of its sessions are live here at once. The log may still have the one before
// until its TTL has passed, so a new session waits for the locks of the old one like any other.
//
// Threads: all methods are thread-safe; `prepare` and `on_failure` run on the replica's callback thread, one at a time, and may
// block: that delays other callbacks, so give their calls timeouts. Lifetime: end() and the destructor wait for a call of
// either, as Observation::end() does (observation.h); it may outlive the replica, and has then ended. Example:
// examples/11_discovery.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/session.h"

namespace COORDKIT_EXPORT coordkit {

class Replica;

struct KeptSessionOptions {
  // These four are those of SessionOptions, for each session; `timeout` is that of each attempt to open one.
  Duration ttl = std::chrono::seconds(5);
  std::string metadata = {};
  Duration timeout = std::chrono::seconds(10);
  Duration give_up = {};
  // Makes a new session ready for use: registers the service, joins a group. An error closes the session and counts as a failed
  // attempt; so does an exception, which is reported to ReplicaOptions::on_error too. Unset: it is ready as it is.
  std::function<absl::Status(Session& fresh)> prepare = {};
  // Told why there is no session, before the pause: the one before was lost (Lost), or an attempt failed, with the status of
  // that. So never more often than the pauses allow.
  std::function<void(const absl::Status& why)> on_failure = {};
  // The pause before an attempt: at first about this, then doubled up to the other. It is drawn between its half and itself, so
  // that processes which lost their sessions together do not come back together. A session that lived for longer than
  // `backoff_max` begins again with `backoff_min`. Legal: above zero, `backoff_max` not below `backoff_min` and at most a day.
  Duration backoff_min = std::chrono::milliseconds(100);
  Duration backoff_max = std::chrono::seconds(10);
};

class KeptSession {
 public:
  // Begins to open the first session, without a pause, and does not wait for it.
  explicit KeptSession(const Replica& replica, KeptSessionOptions options = {});
  ~KeptSession();  // end()
  KeptSession(const KeptSession&) = delete;
  KeptSession& operator=(const KeptSession&) = delete;

  // The present session, which was valid when it was opened: ask it. None (every call is kFailedPrecondition) while there is no
  // session, or none is ready yet.
  Session current() const;
  // The present session, waited for. kDeadlineExceeded (CallTimeout, no effect): none was ready in time; the sentence says why
  // the last attempt failed. kFailedPrecondition (InCallback): there is none, and this is a callback of the replica, or the
  // only thread of an executor. Otherwise why there will be no other: kInvalidArgument, kOutOfRange (TtlTooLarge) of the
  // options; kFailedPrecondition (Closed): ended here, or the replica is closed; kUnavailable (Stopped): closed meanwhile;
  // kDataLoss (ReplicaFailed): it has halted.
  absl::StatusOr<Session> wait(Duration timeout = std::chrono::seconds(10)) const;
  // No session is opened any more, and neither callback is called. The present session is closed once its last copy and its
  // last grant are gone. May be called again.
  void end();

 private:
  struct Rep;
  std::shared_ptr<Rep> rep_;
};

}  // namespace coordkit

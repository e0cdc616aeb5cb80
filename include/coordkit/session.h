// The objects that a service works with: a session that stays alive, and grants that know when they
// must no longer be trusted.
//
// A hold belongs to (session, acquire), never to a thread: any thread may use or release it.
// valid() reads only this machine's clock. So it is right even if the network, the leader or this
// process's other threads do not respond. It cannot cover a thread that is paused after the call.
// So pass token() to the protected resource, and let that refuse older tokens (fence.h).
//
// Threads: all methods are thread-safe, except Grant::downgrade() and upgrade().
// Lifetime: handles may outlive the replica. In a forked child, nothing is valid and every call is
// kFailedPrecondition: the child has none of the threads that would keep it true.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/call.h"
#include "coordkit/client/client_options.h"
#include "coordkit/client/handles.h"
#include "coordkit/client/ref.h"
#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

class Session;

inline constexpr Duration kForever = (Duration::max)();  // no timeout

// Options of Service::open_session().
struct SessionOptions {
  // How long after the last renewal others may get what it held. Raised to 50 ms.
  Duration ttl = std::chrono::seconds(5);
  std::string metadata = {};                    // shown in lists of sessions; at most 4 KiB
  Duration timeout = std::chrono::seconds(10);  // of the call
  // Reports every change of phase, in order, each once, on the replica's callback thread. It ends
  // with Session::close(), or when the last handle and the last grant are destroyed. Both wait for
  // a running call of it, as Observation::end() does (observation.h); in an *_async callback the
  // latter does not. The end of the session that they cause is not reported.
  absl::AnyInvocable<void(SessionPhase)> on_phase = {};
  // How long in jeopardy until it is given up, closed and Lost. Zero: max(3 x ttl, 10 election
  // timeouts).
  Duration give_up = {};
};

// Options of Service::resume_session().
struct ResumeSessionOptions {
  Duration timeout = std::chrono::seconds(10);           // of the call
  absl::AnyInvocable<void(SessionPhase)> on_phase = {};  // the first is Jeopardy; its end: as in
                                                         // SessionOptions
  Duration give_up = {};                                 // as in SessionOptions
  // You vouch that no other process that ever had this session still runs. That saves the wait of
  // one TTL. If it is wrong, two processes may trust one lock. Not needed after a restart on the
  // same data directory.
  bool previous_is_gone = false;
};

// Options of acquire() and its forms.
struct LockOptions {
  Duration timeout = kForever;  // how long to wait in line; zero: not at all
  // The thread of control of this session that asks: one that releases nothing while it waits.
  // Different owners exclude each other, and a circle of owners that wait for each other is
  // kAborted (Deadlock). Empty, for a blocking acquire: the calling thread. Empty, for an
  // asynchronous acquire: a separate owner; re-entrant asynchronous acquires share one. At most 256
  // bytes. Name an owner if a task moves between threads, or if one thread gives grants to others.
  // docs/semantics.md S-49.
  std::string owner = {};
  std::string value = {};  // shown to callers that ask for the holder; at most 4 KiB
  // Alone, or together with others that share. Ignored by acquire_all, where each name has its own
  // mode.
  LockMode mode = LockMode::Exclusive;
  // Counts up the hold that this owner has, if that was acquired with this option and in the same
  // mode. Its token, value and delay stay, and each grant has to be released. At most 65,535 times.
  // Ignored by acquire_all.
  bool reentrant = false;
  // How long the lock is granted to no one if this session expires while it holds it. For work that
  // continues beyond the session's control. 0 to 60 s. Not after a release or a close.
  Duration delay = {};
  // Waits even if that closes a circle of owners that wait for each other, instead of kAborted
  // (Deadlock).
  bool no_deadlock_check = false;
  // The longest time to hold it. Then it becomes invalid, lost() stops, and it is released
  // automatically. Counts from the moment the grant is known here, suspend included. Zero: no
  // limit.
  Duration max_hold = {};
  // Keeps the lock in this session after the release, until another session wants it. Meanwhile the
  // session's owners get it here, without a log entry, in about a microsecond, with tokens that
  // rise with every hold. Another session's acquire, also a try, takes the lock from the session.
  // Owners in line here are served first, within StickyLimits, which also limits how many unheld
  // locks are kept. For locks that mostly one node uses.
  // Exclusive, not reentrant (kInvalidArgument). An owner of this session that wants it in another
  // way takes it from the session too. While the session is in jeopardy nothing is granted here.
  // Others see the value and the owner of the acquire that the log granted. A process without a
  // replica ignores the option. docs/semantics.md S-58.
  bool sticky = false;
  std::stop_token stop = {};  // stopping it cancels the acquire, as AsyncCall::cancel() does
};

// A grant: one lock, or several that were acquired together. Move-only. Its destruction releases it
// without waiting.
class Grant {
 public:
  Grant();  // holds nothing: valid() is false
  Grant(Grant&&) noexcept;
  Grant& operator=(Grant&&) noexcept;
  ~Grant();

  // Whether the holder may still trust it, by its own clock. False from its own deadline on, before
  // it is granted to anyone else.
  bool valid() const;
  // How long valid() stays true unless the session is renewed: until the session's deadline or the
  // end of max_hold, whichever is earlier. Zero when it is not valid.
  Duration remaining() const;
  // Fencing token: every later grant of any lock of this cluster has a larger one. Never changes.
  // (For a sticky lock: every later grant of this lock, and of any lock once it has left its
  // session.)
  Token token() const;
  std::string name() const;  // of the lock, or the first of several
  LockMode mode() const;     // of the lock, or of the first of several
  // Stops once, when the hold first becomes invalid by other means than its release. A session that
  // recovers from jeopardy keeps its holds: valid() then says so, but this token stays stopped.
  // Runs stop callbacks on the callback thread. A stop callback that throws ends the process, as
  // the standard demands of every std::stop_callback: catch inside it.
  std::stop_token lost() const;

  // Releases and waits for the answer. Invalid from this call on, whatever the answer except
  // InCallback, after which it is unchanged. kAborted (Lost): lost before, with its session or
  // alone. kFailedPrecondition (NotOwner): released before. kDeadlineExceeded: the release
  // continues in the background.
  absl::Status release();
  // The same without waiting.
  void release_later();
  AsyncCall release_async(absl::AnyInvocable<void(absl::Status)> done);
  // These change the grant's mode. downgrade() makes an exclusive grant a shared one, and admits
  // those that wait to share; the grant is invalid until that is decided. upgrade() makes the only
  // shared grant the exclusive one, ahead of all that wait. Both give it a new, larger token; the
  // former token is worth nothing.
  // Errors: kFailedPrecondition: others share it (UpgradeConflict), a lock-delay runs (Delayed),
  // released or lost before (NotOwner). kAborted: the session has ended (Lost), or the upgrade
  // would close a circle (Deadlock).
  // kInvalidArgument: it has that mode already, is held several times over, or is on several names.
  // After these the grant is unchanged. Unknown outcome: it is lost, unless the change is refused
  // in the end.
  // A holder of the former lost() token is notified of the new grant's loss.
  // Threads: while one of them blocks, it changes this grant's token and mode. No other thread may
  // use or destroy the grant then.
  absl::Status downgrade();
  absl::Status upgrade();
  // The same, answered with the new grant. This grant then holds nothing. It may be destroyed
  // before the answer; that releases the lock, whatever the answer. Refused: it is unchanged.
  AsyncCall downgrade_async(absl::AnyInvocable<void(absl::StatusOr<Grant>)> done);
  AsyncCall upgrade_async(absl::AnyInvocable<void(absl::StatusOr<Grant>)> done);
  // Replaces the value that others see, keeping lock and token. kFailedPrecondition (NotOwner):
  // released or lost before. kAborted (Lost): the session has ended.
  absl::Status update_value(std::string value);
  AsyncCall update_value_async(std::string value, absl::AnyInvocable<void(absl::Status)> done);
  // Asks the cluster, linearizably, whether this token is still the hold.
  absl::StatusOr<bool> check() const;
  AsyncCall check_async(absl::AnyInvocable<void(absl::StatusOr<bool>)> done) const;

 private:
  friend class Session;
  friend class Service;
  friend struct HandleAccess;
  friend Fence fenced_by(const Grant& grant);
  Grant(Session session, HoldRef hold);
  absl::Status convert(LockMode to);
  AsyncCall convert_async(LockMode to, absl::AnyInvocable<void(absl::StatusOr<Grant>)> done);
  Ref<class SessionHandle> session_;
  HoldRef hold_;
};

// "Only while this grant is the hold": for ProposeOptions::fence. The log decides, so the fence
// also stops a write that was sent in time and arrives too late. A grant that holds nothing makes a
// fence that is refused.
Fence fenced_by(const Grant& grant);

// A live session. Copies are the same session. It is closed when the last copy and the last grant
// are destroyed.
class Session {
 public:
  Session();  // no session: every call is kFailedPrecondition
  Session(const Session&);
  Session(Session&&) noexcept;
  Session& operator=(const Session&);
  Session& operator=(Session&&) noexcept;
  ~Session();

  SessionId id() const;        // the same for all copies
  Duration ttl() const;        // as granted
  bool valid() const;          // by this machine's own clock
  SessionPhase phase() const;  // as this replica knows it
  // When valid() becomes false if no renewal is confirmed before, on the clock of
  // Clock::now().leading. LeadingTime::min() when nothing is confirmed.
  LeadingTime validity_deadline() const;
  Duration remaining() const;  // until then; zero when it is not valid
  // Stops once, when the session is Lost: it ended, was killed, taken over or given up, or it or
  // its replica was closed. In jeopardy it does not stop, because that may end well. Runs stop
  // callbacks on the callback thread, as Grant::lost() does. Never stops for a moved-from or empty
  // session.
  std::stop_token lost() const;
  std::string metadata() const;  // as given to SessionOptions
  // The secret that Service::resume_session() demands: keep it, with id(), where only this service
  // can read it. A session is closed with its last handle. A session that is to outlive its process
  // must still exist when the replica is closed.
  std::string secret() const;

  // Waits in line for the lock.
  // Errors: kDeadlineExceeded: not the owner (WaitTimeout), or released (CallTimeout). kAborted
  // (Lost): the session ended. kFailedPrecondition (Held, Delayed): timeout zero and another owner
  // has it, or its delay runs. kAlreadyExists: this owner holds it or waits for it already.
  // kAborted (Deadlock): the wait would close a circle of owners (LockOptions::owner).
  // kUnavailable: no leader, no effect. kInvalidArgument: empty name. kResourceExhausted
  // (LimitExceeded): oversize name or value.
  absl::StatusOr<Grant> acquire(std::string name, LockOptions options = {});
  // The same with LockMode::Shared.
  absl::StatusOr<Grant> acquire_shared(std::string name, LockOptions options = {});
  // Acquires all of them or none, in one log entry; at most 128 distinct names. Waits in every line
  // at once and holds nothing meanwhile. It gives one grant with one token; all are released
  // together.
  absl::StatusOr<Grant> acquire_all(std::vector<NamedLock> locks, LockOptions options = {});
  AsyncCall acquire_all_async(std::vector<NamedLock> locks, LockOptions options,
                              absl::AnyInvocable<void(absl::StatusOr<Grant>)> done);
  // acquire() without waiting in line.
  absl::StatusOr<Grant> try_acquire(std::string name, LockOptions options = {});
  // The same without blocking. The callback runs on the engine's thread: it must not block or call
  // blocking methods. How a cancelled acquire ends, and every other cancelled call: call.h.
  AsyncCall acquire_async(std::string name, LockOptions options, absl::AnyInvocable<void(absl::StatusOr<Grant>)> done);

  // Ends the session and everything it holds. Nothing of it is valid from this call on, whatever
  // the answer except InCallback. on_phase is not called any more; close_async() still reports
  // Lost.
  absl::Status close();
  AsyncCall close_async(absl::AnyInvocable<void(absl::Status)> done);

 private:
  friend class Grant;
  friend struct HandleAccess;
  friend class Service;
  friend class Mutex;
  friend class SharedMutex;
  HoldRef acquire_here(std::string_view name, const LockOptions& options) const;
  struct Granting;
  template <typename Start, typename Locks>
  AsyncCall acquire_by(Start start, Locks&& locks, LockOptions&& options,
                       absl::AnyInvocable<void(absl::StatusOr<Grant>)>&& done);
  explicit Session(Ref<SessionHandle> handle);
  Ref<SessionHandle> handle_;
};

// Session::acquire_all as a function. It does for locks what std::scoped_lock does for mutexes,
// without any order to agree on.
absl::StatusOr<Grant> acquire_all(Session session, std::vector<NamedLock> locks, LockOptions options = {});

}  // namespace coordkit

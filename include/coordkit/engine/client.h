// The asynchronous client of one replica: sessions, locks, keys. It turns calls into submissions of
// the engine, and the engine's effects into answers. It keeps sessions renewed, and decides locally
// what may still be trusted (docs/time.md).
//
//   client.before_turn(now);           due timers fire; queued calls and renewals are posted
//   engine.turn(now, effects);
//   client.after_turn(now, effects);   answers, ended sessions, confirmed renewals
//   ... the next turn is needed after min(engine's deadline, client.next_turn(now))
//
// Every call ends exactly once: by its answer, its deadline (docs/semantics.md S-59) or stop().
// Tickets of this client have the highest bit set; other users of the same engine use tickets
// without it.
//
// Threads: one owner, the thread that runs the engine's turns. The client has no thread, socket or
// clock of its own. Any thread may read the handles that it returns. Any thread may acquire and
// release locks that a session keeps to itself (S-58). Calls may be made at any time between or
// inside callbacks; the next before_turn takes them up.
// Lifetime: the engine outlives the client. There is one client per boot of a replica, because the
// boot names its renewals.
// Errors: absl::Status with a Reason and an Outcome (error.h). A call that ends with an unknown
// outcome leaves nothing behind unnoticed: a session it opened is closed, a lock it was granted is
// released (S-59).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coordkit/client/client_options.h"
#include "coordkit/client/coordination.h"
#include "coordkit/client/handles.h"
#include "coordkit/client/keys.h"
#include "coordkit/client/leases.h"
#include "coordkit/client/permission_calls.h"
#include "coordkit/client/resumed_holds.h"
#include "coordkit/client/statistics.h"
#include "coordkit/client/watch_events.h"
#include "coordkit/engine/engine.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

class Client {
 public:
  // `options` must be valid (COORDKIT_CHECK).
  Client(Engine& engine, ClientOptions options);
  ~Client();  // stops
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // ---- the host's loop; `now` is the reading the turn in between gets
  void before_turn(Now now);
  // Answers calls from the effects of the turn. Callbacks run inside it. After stop() it has no
  // effect.
  void after_turn(Now now, const EngineEffects& effects);
  // How long after `now` the next turn is needed at the latest. Zero: at once. Duration::max():
  // nothing is awaited. A turn later than that by more than a session's renewal interval puts that
  // session in jeopardy (LT-9).
  Duration next_turn(Now now) const;

  // Ends every call with Stopped and makes every handle invalid before it returns. Sessions are
  // left to expire (close them first if there is time). The calls' callbacks run inside it: hold no
  // mutex that they take. Idempotent. Later calls are answered Closed, inside the call. No callback
  // runs after it. `why`: the engine has failed, or a turn could not be finished. Then earlier and
  // later calls are answered ReplicaFailed with its sentence. A stop() that threw std::bad_alloc is
  // repeated.
  void stop(const absl::Status& why = absl::OkStatus());
  bool stopped() const;  // also once an engine's failure has stopped it

  // ---- sessions
  // Opens a session and keeps it renewed.
  // Errors: InvalidArgument, TtlTooLarge, LimitExceeded (NONE); CallTimeout.
  CallId open_session(OpenOptions options, Callback<SessionRef> done);
  // Ends the session with everything it holds, waits included. Nothing of it is valid from this
  // call on, whatever the answer. An unanswered close is retried until the session has ended. OK if
  // the session had ended already.
  CallId close(const SessionRef& session, DoneCallback done, CallDeadline deadline = {});

  // Takes over a session that another process opened, or that this process opened before its
  // restart. From here on the previous process has lost the session, and its waits end with Lost.
  // The session starts in jeopardy. It becomes valid with the first confirmed renewal, but not
  // before one TTL has passed here since the answer. The previous process may trust the session
  // that long. Until then nothing of it is released or closed in the log (docs/semantics.md S-45).
  // There is no such wait with `previous_is_gone`, or on the same data directory.
  // Errors: PermissionDenied (wrong secret, or the session has none), SessionNotFound (ended or
  // ending), AlreadyExists (this client has it, or is taking it over).
  // CallTimeout: the session may or may not be bound to this process. Ask again, or it expires.
  CallId resume_session(SessionId session, std::string secret, ResumeOptions options, Callback<ResumedSession> done);
  // For administrators: ends another process's session, in two steps (S-57). The answer says that
  // the session is marked. From then on it is not renewed, and its holder is notified. It ends
  // within its TTL (each new leader restarts the count), or earlier if the holder gives it up. Its
  // locks are granted to no one while the holder may trust them. SessionNotFound: it has ended.
  CallId kill_session(SessionId session, DoneCallback done, CallDeadline deadline = {});
  // The same for the session that holds this lock with this token: the whole session ends, and its
  // id is the answer. NotOwner: the token is not the current hold.
  CallId force_release(std::string name, Token token, Callback<SessionId> done, CallDeadline deadline = {});
  // For administrators: ends the lock-delay that an expired session left on a name (S-40).
  // NotFound: no delay is running.
  CallId clear_delay(std::string name, DoneCallback done, CallDeadline deadline = {});

  // ---- locks
  // Answers the grant, or Held, WaitTimeout, Cancelled, Lost, AlreadyHeld, AlreadyWaiting, Delayed,
  // Deadlock; CallTimeout, CancelPending (UNKNOWN; a grant that arrives late is released). A
  // session in jeopardy may acquire; a lost one gets Lost.
  CallId acquire(const SessionRef& session, std::string name, AcquireOptions options, Callback<HoldRef> done);
  // Acquires all of them or none, in one entry, under one token; 1 to 128 distinct names. It waits
  // for all at once and holds nothing meanwhile. They are released together. AlreadyHeld,
  // AlreadyWaiting: this owner has one of the names.
  CallId acquire_all(const SessionRef& session, std::vector<NamedLock> locks, AcquireOptions options, Callback<HoldRef> done);
  // Asks to end a pending acquire. Its own callback gets the decision: Cancelled or the grant. At
  // its deadline, or after ClientOptions::call_timeout, it gets CancelPending. For any other call
  // this is abandon(). Unknown or ended calls: no effect.
  void cancel(CallId call);
  // Stops listening. The callback gets CancelPending (Cancelled if the call never left) in the next
  // before_turn. Anything the call is granted later is released.
  void abandon(CallId call);
  // The hold is invalid from this call on. Retried until it is acknowledged or the session has
  // ended, also past the call's own deadline. NotOwner: released before. Lost: lost first, with its
  // session or alone.
  CallId release(const HoldRef& hold, DoneCallback done, CallDeadline deadline = {});
  void release_later(const HoldRef& hold);  // the same without a callback; no effect on a released
                                            // hold
  // Reports a local hold (S-58) that another thread released. That thread was asked to report it
  // here.
  void released_locally(const HoldRef& hold);
  // Makes an exclusive hold a shared one, or the only shared hold the exclusive one. Answers the
  // new hold with its new token; the former hold is over. A downgrade suspends the hold until it is
  // decided: refused without effect, it is valid again. UpgradeConflict: others share it. Delayed,
  // Deadlock, NotOwner. InvalidArgument: held several times over, on several names, or in that mode
  // already. CallTimeout: a hold that results later is released.
  CallId downgrade(const HoldRef& hold, Callback<HoldRef> done, CallDeadline deadline = {});
  // Makes the only shared hold the exclusive one: see downgrade().
  CallId upgrade(const HoldRef& hold, Callback<HoldRef> done, CallDeadline deadline = {});
  // Replaces the value that everybody sees. The token stays. NotOwner: released or lost before.
  CallId update_value(const HoldRef& hold, std::string value, DoneCallback done, CallDeadline deadline = {});
  // Answers whether the token is still the hold at a moment after this call. Linearizable. False
  // marks the hold lost.
  CallId check(const HoldRef& hold, Callback<bool> done, CallDeadline deadline = {});

  // ---- queries, linearizable
  CallId holders(std::string name, Callback<LockInfo> done, CallDeadline deadline = {});
  // The waiters for the lock, in the order of the line.
  CallId queue(std::string name, Callback<QueueInfo> done, CallDeadline deadline = {});
  // SessionNotFound.
  CallId session_info(SessionId session, Callback<SessionInfo> done, CallDeadline deadline = {});
  // Sessions with ids above `after`; limit 0: as many as one answer holds.
  CallId sessions(SessionId after, uint64_t limit, Callback<SessionList> done, CallDeadline deadline = {});
  // The locks of a session with tokens above `after`; none if it has ended.
  CallId locks_of(SessionId session, Token after, Callback<SessionLocks> done, CallDeadline deadline = {});
  // The figures of this client so far. Makes no call.
  LockStatistics lock_statistics() const;
  // The commands of this client so far. Makes no call.
  CommandStatistics command_statistics() const;
  uint64_t unanswered() const;  // commands without their first answer
  // The renewals of this client's sessions so far. Makes no call.
  RenewalStatistics renewal_statistics() const;

  // ---- keys; Fenced (NONE): the fence of the options did not hold when the write's turn came
  CallId put(std::string key, std::string value, Callback<PutResult> done, WriteOptions options = {});
  // Reads one key; an absent one is an answer, not an error. NoLeader, CallTimeout (NONE).
  CallId get(std::string key, Callback<GetResult> done, CallDeadline deadline = {}, ReadOptions options = {});
  // Deletes one key. An absent key is no error.
  CallId erase(std::string key, Callback<EraseResult> done, WriteOptions options = {});

  // The same with all options, ranges and transactions.
  KeyCalls keys() { return KeyCalls(*this); }
  LeaseCalls leases() { return LeaseCalls(*this); }                 // of keys
  PermissionCalls permissions() { return PermissionCalls(*this); }  // of remotes

  // Reports every later change of a key or an interval, in order, each once: client/watch_events.h.
  // Invalid options are reported as Ended: EmptyRange, InvalidArgument.
  WatchId watch(WatchOptions options, WatchObserver observer);
  // Asks for a Progress batch, which comes as soon as everything before it has been delivered. An
  // unknown or ended watch: no effect.
  void ask_progress(WatchId watch);
  // Nothing is delivered after the answer. WatchNotFound: it has ended.
  void end_watch(WatchId watch, DoneCallback done);

  // ---- the host's own machines, exactly once like every other command
  // Errors: Unsupported (no such machine here), RequestTooLarge, Fenced (NONE); ResultTooLarge
  // (DONE); CallTimeout.
  CallId propose(MachineId machine, std::string command, Callback<ProposeResult> done, WriteOptions options = {});
  // Unsupported (no such machine here); InvalidArgument: the machine's objection to the question.
  CallId query(MachineId machine, std::string question, Callback<QueryResult> done, CallDeadline deadline = {},
               ReadOptions options = {});

  // ---- semaphores, latches, barriers, queues, counters, groups, elections
  CoordinationCalls coordination() { return CoordinationCalls(*this); }

  // Counts what is in progress. For tests and operators; makes no call.
  ClientStatus status() const;

 private:
  friend class CoordinationCalls;
  friend class KeyCalls;
  friend class LeaseCalls;
  friend class PermissionCalls;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coordkit

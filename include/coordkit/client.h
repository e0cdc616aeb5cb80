// The asynchronous client of one replica: sessions, locks, keys. It turns calls into submissions of the engine and the
// engine's effects into answers, keeps sessions renewed, and decides locally what may still be trusted (docs/time.md).
//
//   client.before_turn(now);           due timers fire, queued calls and renewals are posted into the engine
//   engine.turn(now, effects);
//   client.after_turn(now, effects);   answers, ended sessions, confirmed renewals
//   ... the next turn is wanted after min(engine's deadline, client.next_turn(now))
//
// Threads: one owner, the thread that runs the engine's turns; no thread, socket or clock of its own. The handles it
// gives out may be read by any thread; locks that a session keeps to itself (S-58) may be acquired and released by any. Calls
// may be made at any time between or inside callbacks; they are taken up by the next before_turn. Every call ends exactly once:
// by its answer, its deadline (docs/semantics.md S-59) or stop(). Lifetime: the engine outlives the client. Tickets of this
// client have the highest bit set; other users of the same engine use tickets without it. One client per boot of a replica,
// because the boot names its renewals. Errors: absl::Status with a Reason and an Outcome (error.h). A call that ends with an
// unknown outcome leaves nothing behind unnoticed: a session it opened is closed, a lock it was granted is released
// (S-59).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coordkit/client/coordination.h"
#include "coordkit/client/handles.h"
#include "coordkit/client/keys.h"
#include "coordkit/client/leases.h"
#include "coordkit/client/options.h"
#include "coordkit/client/resumed.h"
#include "coordkit/client/statistics.h"
#include "coordkit/client/watch.h"
#include "coordkit/engine.h"
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
  void after_turn(Now now, const EngineEffects& effects);
  // How long after `now` the next turn is wanted at the latest: zero at once, Duration::max() when nothing is awaited.
  // A turn later than that by more than a session's renewal interval puts that session in jeopardy (LT-9).
  Duration next_turn(Now now) const;

  // Ends every call with Stopped and makes every handle invalid before it returns; sessions are left to expire (close them
  // first if there is time). Their callbacks run inside it: hold no mutex that they take. Idempotent. Calls made later are
  // answered Closed, inside the call. Nothing runs after it. `why`: the engine has failed, or a turn could not be finished;
  // then calls, earlier and later ones, are answered ReplicaFailed with its sentence. One that threw std::bad_alloc is
  // repeated.
  void stop(const absl::Status& why = absl::OkStatus());
  bool stopped() const;

  // ---- sessions
  // Opens a session and keeps it renewed. Errors: InvalidArgument, TtlTooLarge, LimitExceeded (NONE); CallTimeout.
  CallId open_session(OpenOptions options, Callback<SessionRef> done);
  // Ends it with all it holds, waits included. Nothing of it is valid from this call on, whatever the answer; an
  // unanswered close is retried until the session has ended. A session that ended already: OK.
  CallId close(const SessionRef& session, DoneCallback done, CallDeadline deadline = {});

  // Takes a session over that another process opened, or this one before its restart: from here on the previous process has
  // lost it, and its waits end with Lost. The session starts in jeopardy and turns valid with the first confirmed renewal, but
  // not before one TTL has passed here since the answer, because the previous process may trust it that long; until then
  // nothing of it is released or closed in the log (docs/semantics.md S-45). No wait with `previous_is_gone`, or on the same
  // data directory. Errors: PermissionDenied (wrong secret, or it has none), SessionNotFound (ended or ending), AlreadyExists
  // (this client has it, or is taking it over); CallTimeout: it was bound to this process or was not; ask again, or it expires.
  CallId resume_session(SessionId session, std::string secret, ResumeOptions options, Callback<ResumedSession> done);
  // For administrators: ends another process's session, in two steps (S-57). The answer says that it is marked: from then on it
  // is not renewed, its holder is notified, and within its TTL (counted anew by each new leader) it ends, or earlier when the
  // holder itself lets go. Its locks are granted to no one while the holder may trust them. SessionNotFound: it has ended.
  CallId kill_session(SessionId session, DoneCallback done, CallDeadline deadline = {});
  // The same for the session that holds this lock with this token: the whole session ends, and is answered. NotOwner: the
  // token is not the current hold.
  CallId force_release(std::string name, Token token, Callback<SessionId> done, CallDeadline deadline = {});
  // Likewise: ends the lock-delay that an expired session left on a name (S-40). NotFound: none runs.
  CallId clear_delay(std::string name, DoneCallback done, CallDeadline deadline = {});

  // ---- locks
  // Answers the grant, or Held, WaitTimeout, Cancelled, Lost, AlreadyHeld, AlreadyWaiting, Delayed,
  // Deadlock; CallTimeout, CancelPending
  // (UNKNOWN; what arrives late is released). A session in jeopardy may acquire; a lost one gets Lost.
  CallId acquire(const SessionRef& session, std::string name, AcquireOptions options, Callback<HoldRef> done);
  // All of them or none, in one entry, under one token; 1 to 128 distinct names. Waits for all at once and holds nothing
  // meanwhile. Released together. AlreadyHeld, AlreadyWaiting: this owner has one of the names.
  CallId acquire_all(const SessionRef& session, std::vector<NamedLock> locks, AcquireOptions options, Callback<HoldRef> done);
  // Asks to end a pending acquire. Its own callback tells what was decided: Cancelled or the grant; at its deadline, or after
  // ClientOptions::call_timeout, CancelPending. For any other call this is abandon(). Unknown or ended calls: no effect.
  void cancel(CallId call);
  // Stops listening: the callback gets CancelPending (Cancelled if the call never left) in the next before_turn; what the
  // call is granted later is given back.
  void abandon(CallId call);
  // Invalid from this call on. Retried until acknowledged or the session has ended, also past the call's own deadline.
  // NotOwner: released before. Lost: the session ended first.
  CallId release(const HoldRef& hold, DoneCallback done, CallDeadline deadline = {});
  void release_later(const HoldRef& hold);  // the same without a callback; no effect on a released hold
  // A local hold (S-58) was released by another thread, which was asked to report it here.
  void released_locally(const HoldRef& hold);
  // Makes an exclusive hold a shared one, or the only shared one the exclusive one, and answers the new hold with its new
  // token; the former is over. A downgrade suspends the hold until it is decided: refused without effect, it is valid again.
  // UpgradeConflict: others share it. Delayed, Deadlock, NotOwner; InvalidArgument: held several times over, on several
  // names, or in that mode already. CallTimeout: what comes of it later is given back.
  CallId downgrade(const HoldRef& hold, Callback<HoldRef> done, CallDeadline deadline = {});
  CallId upgrade(const HoldRef& hold, Callback<HoldRef> done, CallDeadline deadline = {});
  // Replaces the value shown to everybody. The token stays. NotOwner: released or lost before.
  CallId update_value(const HoldRef& hold, std::string value, DoneCallback done, CallDeadline deadline = {});
  // Is the token still the hold, as of a moment after this call? Linearizable. False marks the hold lost.
  CallId check(const HoldRef& hold, Callback<bool> done, CallDeadline deadline = {});

  // ---- looking, linearizable
  CallId holders(std::string name, Callback<LockInfo> done, CallDeadline deadline = {});
  CallId queue(std::string name, Callback<QueueInfo> done, CallDeadline deadline = {});
  CallId session_info(SessionId session, Callback<SessionInfo> done, CallDeadline deadline = {});  // SessionNotFound
  // Sessions with ids above `after`; limit 0: as many as one answer holds.
  CallId sessions(SessionId after, uint64_t limit, Callback<SessionList> done, CallDeadline deadline = {});
  // The locks of a session with tokens above `after`; none if it has ended.
  CallId locks_of(SessionId session, Token after, Callback<SessionLocks> done, CallDeadline deadline = {});
  // What this client has seen so far; no call.
  LockStatistics lock_statistics() const;
  CommandStatistics command_statistics() const;
  uint64_t unanswered() const;  // commands without their first answer
  RenewalStatistics renewal_statistics() const;

  // ---- keys; Fenced (NONE): the fence of the options did not hold when the write's turn came
  CallId put(std::string key, std::string value, Callback<PutResult> done, WriteOptions options = {});
  CallId get(std::string key, Callback<GetResult> done, CallDeadline deadline = {}, ReadOptions options = {});
  CallId erase(std::string key, Callback<EraseResult> done, WriteOptions options = {});

  KeyCalls keys() { return KeyCalls(*this); }        // the same with all options, ranges and transactions
  LeaseCalls leases() { return LeaseCalls(*this); }  // of keys

  // Every change of a key or an interval from here on, in order, each once: client/watch.h. What is wrong with the options is
  // reported as Ended: EmptyRange, InvalidArgument.
  WatchId watch(WatchOptions options, WatchObserver observer);
  // A Progress batch comes as soon as everything before it has been delivered. An unknown or ended watch: no effect.
  void ask_progress(WatchId watch);
  // Nothing is delivered after the answer. WatchNotFound: it has ended.
  void end_watch(WatchId watch, DoneCallback done);

  // ---- the host's own machines, exactly once like every other command
  // Errors: Unsupported (no such machine here), RequestTooLarge, Fenced (NONE); ResultTooLarge (DONE); CallTimeout.
  CallId propose(MachineId machine, std::string command, Callback<ProposeResult> done, WriteOptions options = {});
  // Unsupported (no such machine here); InvalidArgument: what the machine said against the question.
  CallId query(MachineId machine, std::string question, Callback<QueryResult> done, CallDeadline deadline = {},
               ReadOptions options = {});

  // ---- semaphores, latches, barriers, queues, counters, groups, elections
  CoordinationCalls coordination() { return CoordinationCalls(*this); }

  ClientStatus status() const;

 private:
  friend class CoordinationCalls;
  friend class KeyCalls;
  friend class LeaseCalls;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coordkit

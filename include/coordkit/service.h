// The calls that a Replica (replica.h) and a Remote (remote.h) share: sessions, keys, commands of your
// own machines, questions to all of them, and the end. Kv, Watch, Election and the like are made on
// a Service, and so on either of the two.
//
// Threads: all methods are thread-safe, and block the caller unless their name says async. Blocking
// calls are refused inside *_async callbacks (replica.h).
// Lifetime: handles may outlive it. Then every call is kFailedPrecondition and valid() is false.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/client/client_options.h"
#include "coordkit/client/statistics.h"
#include "coordkit/engine/engine.h"
#include "coordkit/export.h"
#include "coordkit/operate/members.h"
#include "coordkit/operate/metrics.h"
#include "coordkit/session.h"
#include "coordkit/sessions/resumed.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

struct Health {                                 // a replica's view of itself: Service::health()
  ReplicaState state = ReplicaState::Starting;  // whether it serves calls: engine_status.h
  std::string reason;                           // a sentence, unless Ready or Learner
  raft::Role role = raft::Role::Follower;       // in `term`
  Term term;                                    // the newest that it knows; zero: a blank replica
  ReplicaId leader;                             // zero: none known
  Index applied;                                // the last entry that its state includes
  Index commit;                                 // the last entry that it knows to be committed
  Index durable;                                // the last entry that is durable in its own log
  Index checkpointed;                           // the state on disk: a start resumes from there
  ClusterId cluster;                            // drawn at genesis; zero: not known yet
  uint64_t feature_level = 0;                   // of the cluster: feature_level.h
  uint64_t digest = 0;                          // of the state: equal wherever `applied` is
  MemberList members;                           // the configuration in force; empty: blank
  std::optional<CatchUp> catch_up;              // in state CatchingUp: the remaining distance
  std::string change;                           // why the change begun here waits; empty: none
  std::vector<std::string> warnings;            // problems for operators, in any state; sentences
  // Members that are not heard, by id: for how long, and why if it is known here. On the leader
  // also connected ones that do not answer. Without a majority of the voters there is no leader.
  std::vector<MissingMember> missing;
  // How long ago the last certain contact was: on the leader with its quorum, on a follower with
  // the leader. Absent: never, or there is no leader.
  std::optional<Duration> contact_age;
  // How old all of this is, except the warnings. It is more than a moment only while the engine's
  // thread is held up (a warning says by which callback), and where nothing may wait for that
  // thread. Those places are an *_async callback and the only thread of an executor of yours.
  Duration age{};
};

// Options of calls that go through the log.
struct ProposeOptions {
  Duration timeout = std::chrono::seconds(10);  // no answer by then: CallTimeout, unknown
  // Not executed (Fenced, certainly no effect) unless this lock is held with this token when its
  // turn comes in the log: {.fence = fenced_by(grant)}.
  std::optional<Fence> fence = {};
};

struct QueryOptions {                           // options of calls that only read
  Duration timeout = std::chrono::seconds(10);  // no answer by then: CallTimeout or NoLeader
  ReadOptions read = {};                        // consistency, as in get()
};

class Host;

class Service {
 public:
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Opens a session and keeps it renewed until it is closed or its last handle is destroyed.
  // Errors: kInvalidArgument (ttl), kDeadlineExceeded (no answer in time; unknown: a session that
  // was opened after all is closed automatically).
  absl::StatusOr<Session> open_session(SessionOptions options = {});
  // Callbacks of all *_async functions run on the engine's thread: they must not block or call
  // blocking methods. Only TooManyRequests may be answered on the caller's thread before the
  // function returns, when too many calls are in progress to be answered in time; never inside
  // another callback. Where no engine is left to answer, every callback runs on the caller's thread
  // before the function returns: hold no mutex there that the callback takes. That is so if the
  // replica is closed, the handle has no session or grant, or this process is a fork. Blocking
  // calls are refused there too. An empty callback: the answer is dropped. Cancelling: call.h.
  AsyncCall open_session_async(SessionOptions options, Callback<Session> done);

  // Takes over a session that another process opened, or that this process opened before its
  // restart, with everything it holds. `secret` is the value of Session::secret(). From here on the
  // previous process has lost the session, and its waits end. Nothing of it is valid before one TTL
  // has passed and a renewal is confirmed, because the previous process may trust the session that
  // long. Until then its locks are not released and the session is not closed, whatever is called
  // (docs/semantics.md S-45). After a restart on the same data directory, or with
  // `previous_is_gone`, only the renewal is awaited. Errors: kPermissionDenied (wrong secret),
  // kNotFound (SessionNotFound: it has ended), kAlreadyExists (this replica has it, or another call
  // here will), kDeadlineExceeded (CallTimeout: unknown; ask again within the TTL).
  absl::StatusOr<Resumed> resume_session(SessionId session, std::string secret, ResumeSessionOptions options = {});
  AsyncCall resume_session_async(SessionId session, std::string secret, ResumeSessionOptions options, Callback<Resumed> done);

  // For administrators. Ends another process's session, and never lets two holders trust one lock.
  // After the answer it is no longer renewed and its holder is notified. Its locks are free when
  // the holder gives them up, at most a TTL later (a new leader restarts it). kNotFound: ended.
  absl::Status kill_session(SessionId session, Duration timeout = std::chrono::seconds(10));
  AsyncCall kill_session_async(SessionId session, Duration timeout, DoneCallback done);
  // The same for the session that holds this lock with this token, which holders() returns. All of
  // it ends, and its id is the answer. kFailedPrecondition (NotOwner): not the current token.
  absl::StatusOr<SessionId> force_release(std::string name, Token token, Duration timeout = std::chrono::seconds(10));
  AsyncCall force_release_async(std::string name, Token token, Duration timeout, Callback<SessionId> done);
  // Ends the lock-delay that an expired session left on a name, for a caller that knows that the
  // session's work is over. kNotFound: no delay is running.
  absl::Status clear_delay(std::string name, Duration timeout = std::chrono::seconds(10));
  AsyncCall clear_delay_async(std::string name, Duration timeout, DoneCallback done);

  // These use the revisioned store. An answered write is durable on a majority. A missing key is no
  // error: get() answers no entry, erase() that it deleted none. Errors: as propose();
  // kInvalidArgument (empty key), kResourceExhausted (LimitExceeded: too large; NoSpace).
  absl::StatusOr<PutResult> put(std::string key, std::string value, ProposeOptions options = {});
  absl::StatusOr<GetResult> get(std::string key, ReadOptions options = {});
  absl::StatusOr<EraseResult> erase(std::string key, ProposeOptions options = {});
  AsyncCall put_async(std::string key, std::string value, ProposeOptions options, Callback<PutResult> done);
  AsyncCall get_async(std::string key, ReadOptions options, Callback<GetResult> done);
  AsyncCall erase_async(std::string key, ProposeOptions options, Callback<EraseResult> done);

  // Runs a command of one of ReplicaOptions::machines through the log, exactly once, and answers
  // its result: the answer of apply for it, from the entry at `index`. Errors:
  // - kUnimplemented: no machine with that id here. kFailedPrecondition (Fenced).
  // - kInvalidArgument: more than 1.5 MiB; an id of coordkit's own; an empty fence.
  // - kResourceExhausted: TooManyRequests, NoSpace (no effect). ResultTooLarge: it took effect; the
  //   result is above kResultBytesMax and lost.
  // - kDeadlineExceeded (CallTimeout, unknown). kUnavailable (NoLeader: no effect).
  absl::StatusOr<ProposeResult> propose(MachineId machine, std::string command, ProposeOptions options = {});
  AsyncCall propose_async(MachineId machine, std::string command, ProposeOptions options, Callback<ProposeResult> done);

  // Asks one of them without a log entry; answers the result of query(). Errors: kUnimplemented (no
  // such machine), kInvalidArgument (from the machine), kUnavailable (NoLeader).
  absl::StatusOr<QueryResult> query(MachineId machine, std::string question, QueryOptions options = {});
  AsyncCall query_async(MachineId machine, std::string question, QueryOptions options, Callback<QueryResult> done);

  // These are linearizable. holders(): a lock's holders. queue(): its waiters. session_info(): a
  // session by its id, kNotFound if it has ended. sessions(): all in pages, by ids above `after`.
  // locks_of(): one session's, in pages, in the order of their grants, none if it has ended.
  absl::StatusOr<LockInfo> holders(std::string name);
  absl::StatusOr<QueueInfo> queue(std::string name);
  absl::StatusOr<SessionInfo> session_info(SessionId session);
  absl::StatusOr<SessionList> sessions(SessionId after = {}, uint64_t limit = 0);
  absl::StatusOr<SessionLocks> locks_of(SessionId session, Token after = {});
  AsyncCall holders_async(std::string name, Callback<LockInfo> done);
  AsyncCall queue_async(std::string name, Callback<QueueInfo> done);
  AsyncCall session_info_async(SessionId session, Callback<SessionInfo> done);
  AsyncCall sessions_async(SessionId after, uint64_t limit, Callback<SessionList> done);
  AsyncCall locks_of_async(SessionId session, Token after, Callback<SessionLocks> done);
  // Figures about this replica's own callers since it was opened: client/statistics.h. No round
  // trip. kFailedPrecondition (Closed) only in a forked child. As old as metrics().
  absl::StatusOr<LockStatistics> lock_statistics() const;
  // This replica's activity since it was opened, as numbers: metrics.h, which also writes them for
  // Prometheus. Errors as above. Allowed everywhere. It waits for a blocked callback no longer than
  // health() does; Metrics::age says how old they are.
  absl::StatusOr<Metrics> metrics() const;

  // The state of this replica now. Allowed everywhere. If a callback holds up the engine's thread,
  // this waits only until that is known (a quarter of an election timeout). It then returns the
  // last published state. Health::age says how old that is, and a warning names the callback.
  Health health() const;
  // The same from the engine's thread, true at the moment of the answer. In a forked child: Closed.
  AsyncCall health_async(Callback<Health> done) const;
  // Blocks until this replica is registered with a leader, as voter or learner, and not far behind.
  // kDeadlineExceeded names what it waits for and missing members, or the callback that blocks it.
  // kFailedPrecondition (InCallback): on the engine's thread, or on an executor's only thread.
  absl::Status wait_ready(Duration timeout) const;
  // kUnavailable (Stopped): closed meanwhile. A cancelled wait is Cancelled (NONE).
  AsyncCall wait_ready_async(Duration timeout, DoneCallback done) const;

  // Ends every call with Stopped, then all threads. Nothing runs after it, whichever thread closed
  // first: a later caller waits for the same end. So it waits for the callbacks that are running or
  // due, as ~Replica() does. Hold no mutex that one of them takes, or both wait for ever. Called
  // from an announcement (on_leadership, on_phase...), it waits neither for that announcement nor
  // for a close in progress. kFailedPrecondition (InCallback): called from an *_async callback, or
  // on the only thread of an executor of yours, which it would wait for; nothing was done.
  absl::Status close();
  // The same from anywhere. `done` is called on a thread made for it, once the replica is closed.
  // If no thread can be made, it is called on the caller's thread (kResourceExhausted,
  // LimitExceeded: nothing was done). The replica may be destroyed meanwhile. An executor of yours
  // must run until then. Cannot be cancelled.
  AsyncCall close_async(DoneCallback done);

 protected:
  explicit Service(std::shared_ptr<Host> host);
  ~Service();  // ends it: ~Replica(), ~Remote()

 private:
  friend struct HandleAccess;
  std::shared_ptr<Host> host_;
};

}  // namespace coordkit

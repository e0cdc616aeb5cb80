// Door 1: one replica of your service's group, with its threads, its disk and its sockets. Open one
// per process. The replicas listed as members form a Raft group, and every one of them hands out
// the same locks. Transport, stores, clock and the engine's thread may be yours instead: parts.h.
//
// Threads: all methods are thread-safe, and block the caller unless their name says async.
// The replica owns nine threads. Two are coordkit/loop: engine and network, one at a time. For its
// disk it has coordkit/log, /spare, /state, /views and /scrub. coordkit/timer is for deadlines.
// coordkit/notify runs your callbacks; a callback that blocks delays only other callbacks. An admin
// socket has coordkit/admin and a thread for each visitor, the look-up of a name coordkit/lookup.
// All of them block your signals, except SIGPROF and those that an instruction raises. A process
// that a callback starts inherits that. None of their descriptors is ever 0, 1 or 2.
// Blocking calls are refused inside *_async callbacks (kFailedPrecondition, InCallback), because
// those run on the engine's thread. They are also refused on the only thread of an executor of
// yours. An *_async callback that blocks holds up everything. Blocking calls of other threads still
// end at their timeouts then, and health() and the event ThreadHeldUp name the callback. A callback
// that throws ends nothing but itself: ReplicaOptions::on_error.
// Lifetime: handles (Session, Grant, Mutex) may outlive the replica. Then every call is
// kFailedPrecondition and valid() is false.
// Errors: a broken disk or invariant, or a failed allocation on a thread of its own, stops this
// replica: health() says why; on_halt is called. The process lives. A failed allocation on a thread
// of yours, inside a call, throws std::bad_alloc; the call's outcome is unknown. Once the cause is
// gone, destroy it (where: ~Replica()) and open another on the same directory, without a restart.
// Example: examples/01_first_lock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/client/client_options.h"
#include "coordkit/client/statistics.h"
#include "coordkit/engine/engine.h"
#include "coordkit/export.h"
#include "coordkit/operate/members.h"
#include "coordkit/operate/metrics.h"
#include "coordkit/operate/replica_event.h"
#include "coordkit/operate/tls.h"
#include "coordkit/ports/own_machine.h"
#include "coordkit/ports/parts.h"
#include "coordkit/session.h"
#include "coordkit/sessions/resumed.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

struct MemberAddress {  // one of ReplicaOptions::members
  uint64_t id = 0;      // 1 and up, unique, the same in every process's list
  std::string address;  // "host:port" or "[IPv6]:port" where this member's replica listens
};

// No encryption and no key: for networks that nobody else can reach. A process that was never
// invited is still ignored, because members prove to each other that they know their cluster. But a
// process that can read or change the traffic between members can do anything.
struct PlainText {};

// A secret that all replicas of a cluster were given. A process that does not know it is refused. A
// MAC protects the traffic between replicas that know it, so that it cannot be changed, replayed or
// forged. It is not encrypted: anyone on the path can read it.
struct SharedSecret {
  std::string secret;  // 16 to 1024 random bytes, the same on every replica: openssl rand -hex 32
};

struct ReplicaOptions {  // the options of Replica::open(); validate() checks them
  uint64_t id = 0;       // this replica's, one of the members
  std::string cluster;   // a name; replicas with another cluster name are refused. Not empty
  // Created if its parent exists. It belongs to this replica alone, and is locked while it is open.
  // Empty only if `parts` has both stores. Relative paths, here and below, are resolved at the
  // open, wherever the host changes its directory to later.
  std::string data_dir = {};
  // The members that bootstrap the cluster together, the same in each of their lists. Until the
  // lists agree no cluster is founded, and health() says how they differ. The list matters until
  // the first leader; afterwards the log knows the members. A replica that is to join a cluster
  // lists itself and some existing members, and waits for change_membership().
  std::vector<MemberAddress> members = {};
  // Must be set, unless `parts` has the transport: no default would be right everywhere. Tls
  // (coordkit/operate/tls.h): certificates on both sides, and encryption; link coordkit::tls.
  std::variant<std::monostate, PlainText, SharedSecret, Tls> security = {};
  std::string listen = {};  // empty: this member's address; ":port": every address, IPv4 and IPv6
  // Non-members that may be connected here, waiting to be added. Zero: none is admitted, and a
  // newcomer does not learn which members it waits for. Legal: any.
  size_t guests_max = 16;

  // A follower campaigns after 1 to 2 of these without leader. Legal: 10 ms to 1 h, > 2 heartbeats.
  Duration election_timeout = std::chrono::milliseconds(300);
  Duration heartbeat_interval = std::chrono::milliseconds(60);  // of a leader. Legal: 1 ms and up
  // Bound on the difference of clock rates, in ppm. Equal on all replicas. Legal: 0 to 500'000.
  uint32_t rate_error_ppm = 10'000;
  StickyLimits sticky = {};  // for locks acquired with the option sticky: client/client_options.h
  // Lets a leader answer Consistency::Lease reads from memory, by the bound above (thesis 6.4.1).
  // Equal on all replicas. The price: no vote for an election timeout after a start.
  bool leader_leases = false;
  uint64_t segment_bytes = 64 << 20;     // of a log file. Legal: 64 KiB to 1 GiB in steps of 4 KiB
  uint64_t checkpoint_entries = 16'384;  // applied between two checkpoints. Legal: 1 and up
  // The most bytes of address space, and of disk, that the checkpoint may take. It takes only as
  // much as it needs: up to twice the state, and more while it is read for a backup or a peer.
  // Beyond this limit the replica halts (LimitExceeded). Lower it in a process whose address space
  // others need, too. Legal: 1 MiB to 64 TiB. No effect on a state store of yours.
  uint64_t checkpoint_map_bytes_max = uint64_t{1} << 40;
  // How much of the log before the last checkpoint is kept for absent members. A member that missed
  // more is sent the whole state. Legal: any.
  uint64_t log_retained_bytes = 64 << 20;
  // How much of the log is kept for connected members that catch up, by the log or with a state
  // that they are sent. A member that falls further behind starts over with a full state. On disk,
  // and only while a member catches up. Legal: any; at least log_retained_bytes is kept.
  uint64_t log_pinned_bytes = uint64_t{4} << 30;
  // Back-pressure. While a voter that answers is further behind than this, new commands get
  // TooManyRequests (no effect) on every replica; commands that give room back continue. A silent
  // voter does not cause this. Matters on the leader. Legal: any; zero: never. Set it below
  // log_pinned_bytes, and above the amount written in 10 ms: entries may be sent 3 ms late (0038).
  uint64_t follower_lag_bytes_max = 0;
  // How much of the history of the keys is kept. The leader compacts the rest automatically. Equal
  // on all replicas. By default all of it is kept.
  CompactionPolicy compaction = {};
  // Replicas compare states after this many entries. Equal on all. Legal: 0 (never), or 128 and up.
  uint64_t digest_entries = 65'536;
  // Log and checkpoint are read in full at this interval, at this pace, and rotten parts are
  // written again. Legal: zero (never, only scrub_now()), or a second and up; 1 and up.
  Duration scrub_every = std::chrono::hours(24);
  uint64_t scrub_bytes_per_second = 16 << 20;       // log and checkpoint together. Legal: 1 and up
  Duration drain = std::chrono::milliseconds(250);  // close()'s wait for posted releases. Legal: 0+
  // How long this replica's own thread polls for input before it sleeps, as long as polling mostly
  // finds some. Between two polls it yields its processor. It costs processor time, and saves each
  // commit the time of waking up. No effect on an executor of yours. Legal: zero (never) to 10 ms.
  Duration busy_poll = std::chrono::microseconds(50);

  // Your own state machines in the same log, at most 64. The ids identify them, not the order.
  std::vector<OwnMachine> machines = {};
  // Your own transport, stores, clock or executor instead of the built-in ones.
  Parts parts = {};

  // The path of a local socket for operators. `coordctl --socket PATH` inspects this replica and
  // acts on it, by the calls below (docs/coordctl.md). Only this process's user and root may open
  // it. Empty: none. At most 107 bytes, not in data_dir.
  std::string admin_socket = {};
  // Events for operators, as values: replica_event.h. Silent by default. log_to_stderr() of
  // log_to_stderr.h gives coordkit's own lines on the error output.
  OnReplicaEvent on_event = {};
  // On the callback thread. on_leadership: the state at first, then each change once, in order.
  std::function<void(const raft::Leadership&)> on_leadership = {};
  std::function<void(const absl::Status&)> on_halt = {};  // once, at a halt, with its cause
  // Errors that stop nothing: a callback, an observer or a machine's query() of yours threw
  // (HostThrew, with its text). Each once, on the callback thread; health().warnings counts them. A
  // machine that changes the state must not throw: that halts this replica, and on_halt is called.
  std::function<void(const absl::Status&)> on_error = {};
  // States of replicas differ: see Divergence. Verdict Self: this replica is in quarantine now.
  std::function<void(const Divergence&)> on_divergence = {};

  absl::Status validate() const;  // kInvalidArgument listing every problem
};

struct Health {                                 // a replica's view of itself: Replica::health()
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

struct LiveBackupOptions {                              // options of Replica::backup()
  Consistency consistency = Consistency::Linearizable;  // what the saved state has: backup()
  Duration timeout = std::chrono::minutes(2);           // for that state, not for the writing
  // Called on the calling thread, five times a second while it waits for the state, and with each
  // MiB written. False ends the call with kCancelled. Unset: the caller waits to the end.
  std::function<bool()> awaited = {};
};

struct BackupInfo;  // coordkit/operate/backup.h; callers of backup() include it
class Host;

class Replica {
 public:
  // Opens the data directory, recovers, listens, and starts. Does not wait for the other replicas.
  // Errors (nothing is lost in any of them):
  // - kInvalidArgument: options; the sentence lists every problem.
  // - kFailedPrecondition: the directory is open in another process, belongs to another cluster or
  //   replica, has an unknown format, or knows of a machine that is not among `machines`.
  // - kPermissionDenied. kUnavailable: the port is in use. kDataLoss: stored bytes are not trusted.
  // - kResourceExhausted: disk full. LimitExceeded: no thread, descriptor or memory (named).
  // - kUnimplemented, kPermissionDenied: the kernel lacks a call, or a policy (seccomp) forbids it.
  static absl::StatusOr<std::unique_ptr<Replica>> open(ReplicaOptions options);
  // As close(), with these exceptions. On the only thread of an executor of yours it ends every
  // call right here and does not wait for posted releases. Their locks are free when the session
  // has expired; or call close_async() before. In a callback, which no close can wait for, a thread
  // of its own completes it. In an announcement, everything but that callback has ended when this
  // returns, and the directory may be opened again. In an *_async callback nothing has ended:
  // open() finds the directory in use until the replica is closed, soon after the callback.
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

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

  // Changes the members, on whichever replica it is called, and answers the index of the final
  // configuration. One change at a time per replica; health().change says what it waits for. How to
  // grow, shrink and repair a cluster, step by step: docs/membership.md. Errors:
  // - kInvalidArgument, kNotFound (MemberNotFound), kAlreadyExists.
  // - kResourceExhausted: more than 64 of a kind. kUnavailable (NoLeader, NotReady).
  // - kFailedPrecondition (NotEnoughVoters): no majority of the new voters answers, one has not
  //   caught up in time, or none would be left to vote.
  // - kFailedPrecondition (ChangeInProgress; NotMember, Removed: ask another replica).
  // - kAborted (Conflict): another configuration than `expected`.
  // - kDeadlineExceeded (CallTimeout): outcome_of() says whether it may still take effect. Outcome
  //   Done: added members stay learners.
  absl::StatusOr<Index> change_membership(MembershipChange change, MembershipOptions options = {});
  AsyncCall change_membership_async(MembershipChange change, MembershipOptions options, Callback<Index> done);
  // The configuration in force in this replica's view.
  MemberList members() const;

  // Hands leadership to `target`, or to the voter that is best prepared. OK once the new leader's
  // first entry is applied here. Meanwhile no proposal is accepted, for up to two election
  // timeouts; sessions and holds are not affected. Errors: kNotFound (MemberNotFound),
  // kFailedPrecondition (NotEnoughVoters: the target has no vote, or no other is up), kUnavailable
  // (NoLeader), kDeadlineExceeded (CallTimeout: the old leader stays).
  absl::Status transfer_leadership(std::optional<uint64_t> target = {}, Duration timeout = std::chrono::seconds(10));
  AsyncCall transfer_leadership_async(std::optional<uint64_t> target, Duration timeout, DoneCallback done);

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

  // Reads log and checkpoint in full now, at the pace of the options, and blocks until that is
  // done. kDataLoss: a part was rotten (a sentence), and is being written again; health().warnings
  // says when that is done. kUnavailable: the replica closes. kFailedPrecondition: called from an
  // *_async callback. kCancelled: `awaited`, which this thread calls five times a second, returned
  // false; the scrub continues without its caller.
  absl::Status scrub_now(absl::FunctionRef<bool()> awaited = [] { return true; });

  // Writes a backup of this replica's state to `file` while everything runs. A relative path is
  // resolved at this call. coordkit/operate/backup.h also says how a cluster is made from a backup.
  // It takes a checkpoint of a state, and writes the file from it on this thread. With
  // Consistency::Linearizable the state has everything acknowledged anywhere before this call. With
  // Local it is the state applied here; that works without a majority too. `timeout` is for the
  // state, not the writing. Rows of your own machines are included. Errors (no file is left):
  // - kAlreadyExists (`file`), kResourceExhausted (disk full), kCancelled.
  // - kUnavailable (NoLeader; Stopped). kDeadlineExceeded (CallTimeout): the sentence says why.
  // - kDataLoss: Corrupt (the checkpoint is rotten and is being written again; retry),
  //   StorageFailed (the file's or the checkpoint's disk fails; only the latter is written again).
  // - kFailedPrecondition: InCallback; InUse (another backup to `file` is being made); Closed
  //   (before, or meanwhile); halted or in quarantine.
  absl::StatusOr<BackupInfo> backup(const std::string& file, LiveBackupOptions options = {});

  // Reads the three files of `security = Tls{...}` again, on this thread. From here on new
  // connections use their new content. Open connections are replaced without a gap. A connection
  // that cannot be replaced stays open, and health() says so. kInvalidArgument: an error that
  // open() would report; nothing changed. kFailedPrecondition (Unsupported): not Tls.
  absl::Status reload_tls();

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

 private:
  friend struct HandleAccess;
  explicit Replica(std::shared_ptr<Host> host);
  std::shared_ptr<Host> host_;
};

}  // namespace coordkit

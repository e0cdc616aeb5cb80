// Door 1: one replica of your service's group, with its threads, its disk and its sockets.
//
// Open one per process; the replicas listed as members form a Raft group and every one of them hands out the same locks.
// Threads: all methods are thread-safe and block the caller unless their name says async. The replica owns nine threads: two
// coordkit/loop (engine and network, one at a time), coordkit/log, /spare, /state, /views and /scrub for its disk,
// coordkit/timer for deadlines, and coordkit/notify, which runs your callbacks; a callback that blocks delays only other
// callbacks. An admin socket has coordkit/admin, and one more for each visitor; a name that is looked up has coordkit/lookup
// meanwhile. All of them block your signals, but those that an instruction raises and SIGPROF; a process that a callback
// starts inherits that. No file or socket of theirs is ever open under the number of a standard stream (0 to 2). Transport,
// stores, clock and the engine's thread may be yours instead: parts.h. Blocking calls are refused inside *_async callbacks
// (kFailedPrecondition, InCallback), because those run on the engine's thread, and on the only thread of an executor of yours.
// An *_async callback that blocks holds up everything: other threads' blocking calls still end at their timeouts, and health()
// and the event ThreadHeldUp name it. A callback that throws ends nothing but itself: ReplicaOptions::on_error. Lifetime:
// handles (Session, Grant, Mutex) may outlive the replica; then every call is kFailedPrecondition and valid() false. Failure:
// a broken disk or invariant, or an allocation that fails on a thread of its own, stops this replica (health() says why,
// on_halt fires); the process lives. An allocation that fails on a thread of yours, inside a call, throws std::bad_alloc, and
// what became of the call is not known. Once the cause is gone, destroy it (where: ~Replica()) and open another one on the
// same directory: no restart of the process is needed. Example:
// examples/01_first_lock.
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
#include "coordkit/client/options.h"
#include "coordkit/client/statistics.h"
#include "coordkit/engine.h"
#include "coordkit/export.h"
#include "coordkit/membership.h"
#include "coordkit/metrics.h"
#include "coordkit/own_machine.h"
#include "coordkit/parts.h"
#include "coordkit/replica_event.h"
#include "coordkit/resumed.h"
#include "coordkit/session.h"
#include "coordkit/tls.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

struct MemberAddress {
  uint64_t id = 0;      // 1 and up, unique, the same in every process's list
  std::string address;  // "host:port" or "[IPv6]:port" where this member's replicas listen
};

// No encryption and no key: for networks that no one else can reach. A process that was never invited is still ignored, because
// members show each other that they know their cluster; but one that can read or change what travels between them can do as it
// likes.
struct PlainText {};

// A secret that all replicas of a cluster were given. A process that does not know it is refused, and what travels between
// those who do carries a MAC, so that it cannot be changed, replayed or made up. It is not encrypted: who reads along reads
// all.
struct SharedSecret {
  std::string secret;  // 16 to 1024 bytes, drawn at random, not a word: openssl rand -hex 32. The same on every replica
};

struct ReplicaOptions {
  uint64_t id = 0;      // this replica's, one of the members
  std::string cluster;  // a name; replicas with another cluster name are refused. Not empty
  // Created if its parent exists; belongs to this replica alone, locked while it is open. Empty only if `parts` has both
  // stores. Relative paths, here and below, mean what they mean at the open, wherever the host changes its directory to.
  std::string data_dir = {};
  // The members that bootstrap the cluster together, in each of their lists the same: until they are, no cluster is founded,
  // and health() says how they differ. Matters until the first leader; afterwards the log knows the members. A replica that is
  // to join a cluster lists itself and some members that exist, and waits for change_membership().
  std::vector<MemberAddress> members = {};
  // Must be set, unless `parts` has the transport: there is no default that would be right everywhere. Tls (coordkit/tls.h):
  // certificates on both sides, and encryption; link coordkit::tls.
  std::variant<std::monostate, PlainText, SharedSecret, Tls> security = {};
  std::string listen = {};  // empty: this member's own address; ":port": every address, of IPv4 and of IPv6
  // Replicas that are not members and may be connected here, waiting to be added. Zero: none is let in, and a newcomer does not
  // learn which members it waits for. Legal: any.
  size_t guests_max = 16;

  // A follower campaigns after one to two of these without a leader. Legal: 10 ms to 1 h, above twice the heartbeat.
  Duration election_timeout = std::chrono::milliseconds(300);
  Duration heartbeat_interval = std::chrono::milliseconds(60);
  // Bound on how much two clocks may differ in rate, in parts per million. Equal on all replicas. Legal: 0 to 500'000.
  uint32_t rate_error_ppm = 10'000;
  StickyLimits sticky = {};  // of locks that were acquired stickily: client/options.h
  // Lets a leader answer Consistency::Lease reads from memory, resting on the bound above (thesis 6.4.1). Equal on all
  // replicas. The price: after a start a replica grants no vote for one election timeout.
  bool leader_leases = false;
  uint64_t segment_bytes = 64 << 20;     // of one log file. Legal: 64 KiB to 1 GiB in steps of 4 KiB
  uint64_t checkpoint_entries = 16'384;  // applied between two checkpoints. Legal: 1 and up
  // The most bytes of address space, and of disk, that the checkpoint may take. It takes what it needs: up to twice the state,
  // and more while it is read for a backup or a peer. Beyond this the replica halts (LimitExceeded). For a process whose
  // address space others need, too. Legal: 1 MiB to 64 TiB. Without effect on a state store of yours.
  uint64_t checkpoint_map_bytes_max = uint64_t{1} << 40;
  // How much of the log before the last checkpoint is kept for members that are away; a member that missed more is sent the
  // whole state. Legal: any.
  uint64_t log_retained_bytes = 64 << 20;
  // How much of the log is kept for members that are here and catch up, by the log or with a state that they are sent. Who does
  // not get there within so much log begins anew. On disk, and only while a member catches up. Legal: any; log_retained_bytes
  // at least is kept.
  uint64_t log_pinned_bytes = uint64_t{4} << 30;
  // Back-pressure: while a voter that answers is more than so much log behind, new commands get TooManyRequests (no effect) on
  // every replica; what gives room back goes on. A silent voter does not hold this up. Matters on the leader. Legal: any;
  // zero: never. Give it less than log_pinned_bytes, and more than is written in 10 ms: entries may be sent 3 ms late (0038).
  uint64_t follower_lag_bytes_max = 0;
  // How much of the history of the keys is kept, which the leader compacts by itself; equal on all replicas. By default all of
  // it is kept.
  CompactionPolicy compaction = {};
  // Replicas compare their states after every so many entries; equal on all replicas. Legal: 0 (never), or 128 and up.
  uint64_t digest_entries = 65'536;
  // Log and checkpoint are read in full every so often, at this pace, and what has rotted is written anew. Legal: zero (never,
  // only scrub_now()), or a second and up; 1 and up.
  Duration scrub_every = std::chrono::hours(24 * 7);
  uint64_t scrub_bytes_per_second = 16 << 20;
  Duration drain = std::chrono::milliseconds(250);  // how long close() waits for posted releases. Legal: zero and up
  // For how long this replica's own thread looks for what comes before it sleeps, as long as that mostly finds something.
  // Between two looks it yields its processor. Takes processor time, and spares each commit the time that waking up takes.
  // Without effect on an executor of yours. Legal: zero (never) to 10 ms.
  Duration busy_poll = std::chrono::microseconds(50);

  // Your own state machines in the same log, at most 64; the ids say which is which, not the order.
  std::vector<OwnMachine> machines = {};
  // Your own transport, stores, clock or executor in place of the built-in ones.
  Parts parts = {};

  // Where a local socket is made for operators: `coordctl --socket PATH` looks at this replica and acts on it, by the
  // calls below (docs/coordctl.md). Only this process's user and root may open it. Empty: none. To 107 bytes, not in data_dir.
  std::string admin_socket = {};
  // Events that an operator may want to know of, as values: replica_event.h. Silent by default; coordkit's own lines
  // on the error output are log_to_stderr() of log_to_stderr.h.
  OnReplicaEvent on_event = {};
  // Called on the callback thread. on_leadership: what is known at the opening, then every change, in order, each once.
  std::function<void(const raft::Leadership&)> on_leadership = {};
  std::function<void(const absl::Status&)> on_halt = {};
  // Errors that stop nothing: code of yours that coordkit called threw (HostThrew, with what it said). Each once, on
  // the callback thread; health().warnings counts them. What threw was a callback, an observer or a machine's query(); only a
  // machine that changes the state must not throw: that halts this replica, and on_halt is called.
  std::function<void(const absl::Status&)> on_error = {};
  // States of replicas differ: see Divergence. With verdict Self this replica is in quarantine from now on.
  std::function<void(const Divergence&)> on_divergence = {};

  absl::Status validate() const;  // kInvalidArgument listing every problem
};

struct Health {
  ReplicaState state = ReplicaState::Starting;
  std::string reason;  // of every state but Ready and Learner: a sentence
  raft::Role role = raft::Role::Follower;
  Term term;
  ReplicaId leader;  // zero: none known
  Index applied;
  Index commit;
  Index durable;       // own log
  Index checkpointed;  // the state on this disk: a start goes on from there
  ClusterId cluster;
  uint64_t feature_level = 0;  // of the cluster: feature_level.h
  uint64_t digest = 0;         // of the applied state: equal on all replicas at equal applied index
  MemberList members;
  std::optional<CatchUp> catch_up;    // in state CatchingUp: what is still before this replica
  std::string change;                 // what the change of members started here waits for; empty: none is under way
  std::vector<std::string> warnings;  // what an operator should look after, in any state; sentences
  // Members that are not heard, by id: for how long, and why as far as it is known here. On the leader also those that are
  // connected and do not answer. Without a majority of the voters there is no leader.
  std::vector<MissingMember> missing;
  // How long ago the leader's quorum, or on a follower the leader, was last heard for certain. Absent: never, or there is no
  // leader.
  std::optional<Duration> contact_age;
  // How old all of this is, but for the warnings. More than a moment only while the engine's thread is held up (a warning says
  // by what), and where it cannot be waited for: in an *_async callback, and on the only thread of an executor of yours.
  Duration age{};
};

// Options of calls that go through the log.
struct ProposeOptions {
  Duration timeout = std::chrono::seconds(10);  // of the call; a call that is not answered by then is CallTimeout, unknown
  // Not executed (Fenced, certainly no effect) unless this lock is held with this token when its turn comes in the log:
  // {.fence = fenced_by(grant)}.
  std::optional<Fence> fence = {};
};

struct QueryOptions {
  Duration timeout = std::chrono::seconds(10);
  ReadOptions read = {};  // consistency, as of get()
};

struct LiveBackupOptions {
  Consistency consistency = Consistency::Linearizable;
  Duration timeout = std::chrono::minutes(2);
  // Asked on the calling thread, five times a second while the state is waited for, and with each MiB that is written; false
  // ends the call with kCancelled. Unset: somebody waits for it until the end.
  std::function<bool()> awaited = {};
};

struct BackupInfo;  // coordkit/backup.h, which whoever calls backup() includes
class Host;

class Replica {
 public:
  // Opens the data directory, recovers, listens, and starts; does not wait for the others. Errors, nothing lost in any:
  // kInvalidArgument (options; the sentence lists every problem), kFailedPrecondition (the directory is open in another
  // process, belongs to another cluster or replica, has an unknown format, or knows of a machine that is not among
  // `machines`), kPermissionDenied, kUnavailable (the port is in use), kDataLoss (stored bytes cannot be trusted),
  // kResourceExhausted (disk full; LimitExceeded: no thread, descriptor or memory is to be had, and the sentence says which),
  // kUnimplemented and kPermissionDenied (the kernel lacks a call, or a policy such as a seccomp filter forbids it).
  static absl::StatusOr<std::unique_ptr<Replica>> open(ReplicaOptions options);
  // close(). On the only thread of an executor of yours it ends every call right here and does not wait for releases that were
  // posted: their locks are free when the session has run out, or close_async() before. In a callback, which no close can wait
  // for, a thread of its own completes it. In an announcement all but that
  // callback has ended when this returns, and the directory may be opened again; in an *_async callback nothing has, and until
  // it is closed, soon after the callback, open() finds the directory in use.
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // Opens a session and keeps it renewed until it is closed or its last handle is gone. Errors: kInvalidArgument (ttl),
  // kDeadlineExceeded (no answer in time; unknown: a session that was opened after all is closed by itself).
  absl::StatusOr<Session> open_session(SessionOptions options = {});
  // Every *_async function is answered on the engine's thread: the callback must not block or call blocking methods. Only
  // TooManyRequests, when more is under way than can be answered in time, may be answered on the caller's thread before the
  // function returns; never so inside another callback. Where no engine is left to answer (the replica is closed, the handle
  // has no session or grant, this process is a fork), every answer comes on the caller's thread before the function returns:
  // hold no mutex there that the callback takes. Blocking calls are refused in it all the same. An empty callback: nobody wants
  // the answer. How a call is cancelled and what then holds: call.h.
  AsyncCall open_session_async(SessionOptions options, Callback<Session> done);

  // Takes a session over that another process opened, or this one before its restart, with everything it holds; the secret is
  // what Session::secret() said. The previous process has lost it from here on, and its waits end. Nothing of it is valid
  // before one TTL has passed and a renewal is confirmed, because the previous process may trust it that long; until
  // then its locks are not released nor the session closed, whatever is called (docs/semantics.md S-45). After a restart on
  // the same data directory, or with `previous_is_gone`, only the renewal is waited for. Errors: kPermissionDenied (wrong
  // secret), kNotFound (SessionNotFound: it has ended), kAlreadyExists (this replica has it, or another call here will),
  // kDeadlineExceeded (CallTimeout: unknown; ask again within the TTL).
  absl::StatusOr<Resumed> resume_session(SessionId session, std::string secret, ResumeSessionOptions options = {});
  AsyncCall resume_session_async(SessionId session, std::string secret, ResumeSessionOptions options, Callback<Resumed> done);

  // For administrators. Ends another process's session, without ever letting two holders trust one lock: once this is
  // answered, the session is no longer renewed and its holder is notified; its locks are free when the holder lets go, at the
  // latest a TTL later (counted anew if the leader changes). kNotFound: it has ended.
  absl::Status kill_session(SessionId session, Duration timeout = std::chrono::seconds(10));
  AsyncCall kill_session_async(SessionId session, Duration timeout, DoneCallback done);
  // The same for the session that holds this lock with this token, which holders() gives: the whole session ends, and is
  // answered. kFailedPrecondition (NotOwner): the token is not the current hold.
  absl::StatusOr<SessionId> force_release(std::string name, Token token, Duration timeout = std::chrono::seconds(10));
  AsyncCall force_release_async(std::string name, Token token, Duration timeout, Callback<SessionId> done);
  // Ends the lock-delay that an expired session left on a name, for a caller that knows that its work is over. kNotFound: none
  // runs.
  absl::Status clear_delay(std::string name, Duration timeout = std::chrono::seconds(10));
  AsyncCall clear_delay_async(std::string name, Duration timeout, DoneCallback done);

  // The revisioned store: durable on a majority when answered. Errors: kInvalidArgument (empty key),
  // kResourceExhausted (LimitExceeded: oversize key or value; NoSpace: the quota), and those of propose().
  absl::StatusOr<PutResult> put(std::string key, std::string value, ProposeOptions options = {});
  absl::StatusOr<GetResult> get(std::string key, ReadOptions options = {});
  absl::StatusOr<EraseResult> erase(std::string key, ProposeOptions options = {});
  AsyncCall put_async(std::string key, std::string value, ProposeOptions options, Callback<PutResult> done);
  AsyncCall get_async(std::string key, ReadOptions options, Callback<GetResult> done);
  AsyncCall erase_async(std::string key, ProposeOptions options, Callback<EraseResult> done);

  // Runs a command of one of ReplicaOptions::machines through the log, exactly once, and answers with its result: what apply
  // gave for it, of the entry at `index`. Errors: kUnimplemented (no machine with that id here), kInvalidArgument (more than
  // 1.5 MiB; an id of coordkit's own; a fence of nothing), kFailedPrecondition (Fenced), kResourceExhausted (TooManyRequests,
  // NoSpace: no effect; ResultTooLarge: took effect, the result is above kResultBytesMax and lost), kDeadlineExceeded
  // (CallTimeout, unknown), kUnavailable (NoLeader: no effect).
  absl::StatusOr<ProposeResult> propose(MachineId machine, std::string command, ProposeOptions options = {});
  AsyncCall propose_async(MachineId machine, std::string command, ProposeOptions options, Callback<ProposeResult> done);

  // Asks one of them without a log entry; what query() gave. Errors: kUnimplemented (no such machine), kInvalidArgument (the
  // machine says so), kUnavailable (NoLeader).
  absl::StatusOr<QueryResult> query(MachineId machine, std::string question, QueryOptions options = {});
  AsyncCall query_async(MachineId machine, std::string question, QueryOptions options, Callback<QueryResult> done);

  // Who holds a lock and who waits for it; a session by its id, kNotFound if it has ended; all sessions in pages, by ascending
  // ids above `after`; the locks of one, in pages, by the order of their grants, none if it has ended. Linearizable.
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
  // How this replica's own callers have fared since it was opened: client/statistics.h. No round trip; kFailedPrecondition
  // (Closed) only in a forked child. As old as metrics().
  absl::StatusOr<LockStatistics> lock_statistics() const;
  // What this replica has done since it was opened, as numbers: metrics.h, which also writes them for Prometheus. As above.
  // Allowed everywhere, and waits for a blocked callback no longer than health(); Metrics::age says how old it is.
  absl::StatusOr<Metrics> metrics() const;

  // Changes the members, on whichever replica it is called, and answers the index of the final configuration. Errors:
  // kInvalidArgument, kNotFound (MemberNotFound), kAlreadyExists, kResourceExhausted (more than 64 of a kind);
  // kFailedPrecondition (NotEnoughVoters: no majority of the new voters answers, one has not caught up in time, or none
  // would be left to vote; ChangeInProgress; NotMember, Removed: ask another replica), kAborted (Conflict: another
  // configuration than `expected`), kUnavailable (NoLeader, NotReady). kDeadlineExceeded: CallTimeout; outcome_of() says
  // whether it may still take effect. Outcome Done: what was added stays a learner. Meanwhile health().change says what it
  // waits for. One at a time per replica. How to grow, shrink
  // and repair a cluster, step by step: docs/membership.md.
  absl::StatusOr<Index> change_membership(MembershipChange change, MembershipOptions options = {});
  AsyncCall change_membership_async(MembershipChange change, MembershipOptions options, Callback<Index> done);
  // The configuration in force as this replica sees it.
  MemberList members() const;

  // Hands leadership to `target`, or to the voter that is best prepared; OK once the new leader's first entry is applied here.
  // No proposal is taken for up to two election timeouts meanwhile; sessions and holds are not affected. Errors: kNotFound
  // (MemberNotFound), kFailedPrecondition (NotEnoughVoters: the target has no vote, or no other is up), kUnavailable
  // (NoLeader), kDeadlineExceeded (CallTimeout: the old leader goes on).
  absl::Status transfer_leadership(std::optional<uint64_t> target = {}, Duration timeout = std::chrono::seconds(10));
  AsyncCall transfer_leadership_async(std::optional<uint64_t> target, Duration timeout, DoneCallback done);

  // The state of this replica now. Allowed everywhere. If a callback holds up the engine's thread, this waits no longer than it
  // takes to know that (a quarter of an election timeout), and gives the state as it was last published; Health::age says how
  // old it is, and a warning names the callback.
  Health health() const;
  // The same, answered by the engine's thread, and so of the moment of the answer. In a forked child: Closed.
  AsyncCall health_async(Callback<Health> done) const;
  // Blocks until this replica knows a leader, is registered with it as a voter or a learner, and is not far behind.
  // kDeadlineExceeded: says what it still waits for, and which members are missing; or that the engine's thread is held up, and
  // by what. kFailedPrecondition (InCallback): on that thread, or on the only thread of an executor of yours.
  absl::Status wait_ready(Duration timeout) const;
  // kUnavailable (Stopped): closed meanwhile. A cancelled wait is Cancelled (NONE).
  AsyncCall wait_ready_async(Duration timeout, DoneCallback done) const;

  // Reads log and checkpoint in full now, at the pace of the options, and blocks until that is done. kDataLoss: something was
  // rotten (a sentence), and is being written anew; health().warnings says when that is done. kUnavailable: the replica closes.
  // kFailedPrecondition: called from an *_async callback. kCancelled: `awaited`, which this thread asks five times a second,
  // said false; the scrub goes on without its caller.
  absl::Status scrub_now(absl::FunctionRef<bool()> awaited = [] { return true; });

  // Writes a backup of this replica's state to `file`, which means what it means at this call, while everything goes on
  // (coordkit/backup.h, which also says how a cluster is made of one). Takes a checkpoint of a state that has everything
  // acknowledged anywhere before this call (Consistency::Linearizable), or of what this replica has applied (Local: also
  // without a majority), and writes the file from it on this thread; `timeout` is for the state, not for the writing. Rows of
  // your own machines come along. Errors, nothing left of the file: kAlreadyExists (`file`), kDeadlineExceeded (CallTimeout:
  // what the checkpoint waits for), kCancelled, kUnavailable (NoLeader; Stopped), kDataLoss (Corrupt: the checkpoint is rotten,
  // and is being written anew: try again; StorageFailed: a disk answers with errors, the file's or the checkpoint's, and only
  // the latter is written anew), kResourceExhausted (disk full), kFailedPrecondition (InCallback; InUse: another backup to
  // `file` is being made; Closed: before, or meanwhile; halted or in quarantine).
  absl::StatusOr<BackupInfo> backup(const std::string& file, LiveBackupOptions options = {});

  // Reads the three files of `security = Tls{...}` again, on this thread. From here on connections are made with what they say
  // now; each that stands is replaced by one that was, without a gap, and goes on if that is refused, which health() then says.
  // kInvalidArgument: what open() would say of the files, and nothing has changed. kFailedPrecondition (Unsupported): security
  // is not Tls.
  absl::Status reload_tls();

  // Ends every call with Stopped, then all threads; nothing runs after it, whoever closed first: who comes later waits for
  // that. So it waits for the callbacks that are running or due, as ~Replica() does: hold no mutex that one of them takes, or
  // both wait for ever. Called from an announcement (on_leadership, on_phase...), it does not wait for this one, nor for a
  // close under way. kFailedPrecondition (InCallback): called from an *_async callback, or on the only thread of an executor of
  // yours, which it would wait for; nothing was done.
  absl::Status close();
  // The same from anywhere. `done` is called on a thread made for it, once the replica is closed, or on the caller's thread if
  // none can be made (kResourceExhausted, LimitExceeded: nothing was done). The replica may be destroyed meanwhile. An executor
  // of yours must run until then. Cannot be cancelled.
  AsyncCall close_async(DoneCallback done);

 private:
  friend struct HandleAccess;
  explicit Replica(std::shared_ptr<Host> host);
  std::shared_ptr<Host> host_;
};

}  // namespace coordkit

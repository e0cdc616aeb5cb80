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
#include "coordkit/engine/engine.h"
#include "coordkit/export.h"
#include "coordkit/operate/members.h"
#include "coordkit/operate/replica_event.h"
#include "coordkit/operate/security.h"
#include "coordkit/operate/tls.h"
#include "coordkit/ports/own_machine.h"
#include "coordkit/ports/parts.h"
#include "coordkit/service.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

struct MemberAddress {  // one of ReplicaOptions::members
  uint64_t id = 0;      // 1 and up, unique, the same in every process's list
  std::string address;  // "host:port" or "[IPv6]:port" where this member's replica listens
};

// How a replica serves processes without one, as their gateway (remote.h, docs/remote.md).
struct RemotesOptions {
  // "host:port", "[IPv6]:port" or ":port", another one than the members' own. Empty: it serves none.
  std::string listen = {};
  // Must be set if `listen` is. The secret is one of its own: a member's is never given to remotes.
  std::variant<std::monostate, PlainText, SharedSecret> security = {};
  size_t remotes_max = 1024;  // linked at a time. Legal: 1 and up
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

  RemotesOptions remotes = {};  // for callers without a replica. By default there are none

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

struct LiveBackupOptions {                              // options of Replica::backup()
  Consistency consistency = Consistency::Linearizable;  // what the saved state has: backup()
  Duration timeout = std::chrono::minutes(2);           // for that state, not for the writing
  // Called on the calling thread, five times a second while it waits for the state, and with each
  // MiB written. False ends the call with kCancelled. Unset: the caller waits to the end.
  std::function<bool()> awaited = {};
};

struct BackupInfo;  // coordkit/operate/backup.h; callers of backup() include it
class ReplicaCalls;

class Replica final : public Service {
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

 private:
  friend struct ReplicaAccess;
  Replica(std::shared_ptr<Host> host, ReplicaCalls& calls);
  ReplicaCalls& calls_;  // the host's
};

}  // namespace coordkit

// Options of the client and of its calls, and the plain values that reads answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/client/handles.h"
#include "coordkit/client/validity_watch.h"
#include "coordkit/engine/engine.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"
#include "coordkit/ports/clock.h"
#include "coordkit/records.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

using CallId = Id<struct CallIdTag>;  // a call of one client; never reused

// Receives the answer of a call, exactly once, in before_turn, after_turn or stop; never inside the
// call that it was passed to, except after stop(). May call the client again, stop() included. Must
// not run a turn, destroy the client, block or throw.
template <typename T>
using Callback = absl::AnyInvocable<void(absl::StatusOr<T>)>;
// The same for a call that answers only whether it succeeded. OK: it did.
using DoneCallback = absl::AnyInvocable<void(absl::Status)>;

// Runs user code (phase announcements, stop callbacks of lost holds) in the order handed over, each
// task once. A replica provides one that runs on its callback thread. Called from the client's
// owner thread only.
using Notifier = absl::AnyInvocable<void(absl::AnyInvocable<void()>)>;

// Locks that a session keeps to itself after a release (S-58). Each option applies to this node
// alone.
struct StickyLimits {
  uint64_t block = uint64_t{1} << 16;  // tokens reserved at a time: one log entry for this many
                                       // grants. Legal: 1 to 2^20
  // Once another session wants the lock, owners that waited here before are served first: this
  // many, and for this long.
  uint32_t grants_max = 16;                           // Legal: any
  Duration time_max = std::chrono::milliseconds(10);  // Legal: zero and up
  // How many locks a session keeps that none of its owners holds. Beyond that, the least recently
  // used ones are given back. Each costs some 400 bytes in every replica. Legal: any; zero keeps
  // none.
  size_t idle_max = 4096;

  // Whether each value is in its range.
  bool legal() const { return block >= 1 && block <= uint64_t{1} << 20 && time_max >= Duration::zero(); }
  friend bool operator==(const StickyLimits&, const StickyLimits&) = default;
};

// When the leader compacts the keys automatically (docs/semantics.md S-20). Both zero: never,
// everything is kept. With both, everything that either of them keeps is kept.
struct CompactionPolicy {
  uint64_t revisions = 0;  // this many of the newest stay readable. Legal: any
  // The revision that was the newest this long ago stays readable, and all later ones. The leader
  // counts it from its takeover, in steps of a tenth. Legal: zero, or 100 ms and up.
  Duration age{};

  // Whether `age` is in its range.
  bool legal() const { return age == Duration::zero() || age >= std::chrono::milliseconds(100); }
};

// Options of a Client.
struct ClientOptions {
  // As the engine's. Legal: above zero. Sets retry pace, default deadlines and the give-up limit.
  Duration election_timeout = std::chrono::milliseconds(300);
  // rho: bound on clock rate error in parts per million, equal on all replicas. Legal: 0 to
  // 500'000.
  uint32_t rate_error_ppm = 10'000;
  // g: kept back from every validity deadline, so that the announcement arrives in time, and for
  // the part of a suspend that a clock cannot see (microseconds). Legal: 0 and up; below 100 us
  // only with a clock that sees it all. A TTL below it is never valid.
  Duration slack = std::chrono::milliseconds(1);
  // For calls without a wait and without a deadline of their own, and for waits once they are
  // cancelled. Legal: above zero.
  Duration call_timeout = std::chrono::seconds(10);
  // A session longer in jeopardy than max(3 x ttl, 10 election timeouts) is given up. A larger
  // value here wins, and OpenOptions::give_up wins over both. Legal: any.
  Duration give_up_min{};
  // Calls in progress; more get TooManyRequests at the entrance. Legal: 1 and up. Release, cancel
  // and close are not refused.
  size_t calls_max = 65536;
  StickyLimits sticky = {};          // of locks that this client's sessions keep
  CompactionPolicy compaction = {};  // while this replica leads; equal on all of them
  // Absent: user code runs inline, at the end of before_turn and after_turn.
  Notifier notify = {};
  // Draws the secret of a session that is opened: 16 to 64 unpredictable bytes, never the same
  // twice. Absent: sessions have no secret and cannot be resumed.
  absl::AnyInvocable<std::string()> draw_secret = {};
  ValidityWatch* watch = nullptr;  // outlives the client; absent: holders are notified in the
                                   // client's turns

  absl::Status validate() const;  // kInvalidArgument listing every problem
};

// V: how long after sending an acknowledged open or renewal of this TTL its holder may trust it
// (docs/time.md LT-1). Rounded down.
Duration validity(Duration ttl, uint32_t rate_error_ppm, Duration slack);

// When a call ends at the latest, by the lagging clock. Absent: wait + 2 election timeouts, or
// call_timeout where there is no wait, counted from the before_turn that takes the call up
// (docs/semantics.md S-59).
using CallDeadline = std::optional<LaggingTime>;

// How a read is answered. Converts from a Consistency, so that `get(key, done, {},
// Consistency::Local)` reads well.
struct ReadOptions {
  Consistency consistency = Consistency::Linearizable;  // how new the state is that answers
  // Local only: a state at or beyond this log index (the `index` of an earlier answer, from any
  // replica). The read waits for it until the deadline (CallTimeout, no effect).
  Index at_least = {};
  ReadOptions() = default;
  // So that a Consistency may be given alone.
  ReadOptions(Consistency wanted, Index at_least_index = {})  // NOLINT: meant to convert
      : consistency(wanted), at_least(at_least_index) {}
};

// Options of Client::open_session().
struct OpenOptions {
  Duration ttl{};              // above zero; raised to the floor of 50 ms
  std::string metadata = {};   // shown by sessions(); at most 4 KiB
  CallDeadline deadline = {};  // of the call; absent: as CallDeadline says
  // Reports every change of phase, in order, each once, through the Notifier. The first is the
  // phase the session was opened with.
  absl::AnyInvocable<void(SessionPhase)> on_phase = {};
  Duration give_up{};  // longest time in jeopardy; zero: as in ClientOptions
};

// Options of Client::resume_session().
struct ResumeOptions {
  CallDeadline deadline = {};                            // of the call; absent: as CallDeadline
                                                         // says
  absl::AnyInvocable<void(SessionPhase)> on_phase = {};  // the first is Jeopardy
  // The caller vouches that no other process that ever had the session still runs. That saves the
  // wait of one TTL. A restart on the same data directory needs no voucher.
  bool previous_is_gone = false;
  Duration give_up{};  // as in OpenOptions
};

// How long an acquire or another wait may wait in line. By default not at all.
struct LockWait {
  // The kind of a wait. Timed: for `timeout`.
  enum class Kind : uint8_t { NoWait, Timed, Forever };
  Kind kind = Kind::NoWait;  // what none(), timed() and endless() set
  Duration timeout{};        // above zero if Timed; decided in the log, by the leader's clock; each
                             // new leader restarts it

  static LockWait none() { return {}; }  // answered at once: Held where it would wait
  // `timeout`: above zero. WaitTimeout when it is over.
  static LockWait timed(Duration timeout) { return {Kind::Timed, timeout}; }
  // Waits until the decision, a cancel or the call's deadline.
  static LockWait endless() { return {Kind::Forever, {}}; }
};

// Options of Client::acquire() and acquire_all().
struct AcquireOptions {
  LockWait wait = {};                   // by default none: Held or Delayed if it is not free
  std::string owner_tag = {};           // the thread of control; different tags of one session
                                        // exclude each other
  HoldTexts texts = {};                 // shown to callers that ask for the holders
  CallDeadline deadline = {};           // a Forever wait without one ends by its result, or its
                                        // cancel
  Duration max_hold{};                  // S-51: released and invalid this long after the grant
                                        // became known; zero: no limit
  LockMode mode = LockMode::Exclusive;  // ignored by acquire_all, where each name has its own
  // Counts up the hold that this owner has, if it was acquired with this option and in the same
  // mode. That hold keeps its value and delay; each of the handles has to be released. Ignored by
  // acquire_all.
  bool reentrant = false;
  // How long the lock is granted to no one after this hold ended because its session expired; up to
  // 60 s. Not after a release.
  Duration delay{};
  bool no_deadlock_check = false;  // wait even if that closes a circle of owners that wait for each
                                   // other
  // S-58: the session keeps the lock after the release, until another session wants it, and grants
  // it to its own owners without a log entry. Exclusive, not reentrant, not for acquire_all. A
  // process without a replica ignores it.
  bool sticky = false;
};

// The answer of Client::holders(): a lock in one applied state.
struct LockInfo {
  std::vector<HolderInfo> holders;  // in the order of their grants; none: it is free, or `delayed`
  uint64_t waiters = 0;             // acquires in line; queue() lists them
  bool delayed = false;             // a holder's session expired, and the delay that it requested
                                    // is running
  Index as_of;                      // the applied state that was read
  bool more = false;                // there are more holders than one answer has (10,000, and about
                                    // 4 MiB)
};
// The answer of Client::queue().
struct QueueInfo {
  std::vector<WaiterInfo> waiters;  // by position
  bool more = false;                // there are more than one answer has (10,000, and about 4 MiB)
  Index as_of;                      // the applied state that was read
};
// The answer of Client::locks_of().
struct SessionLocks {
  std::vector<HeldLockInfo> locks;  // in the order of their grants
  bool more = false;                // ask again after the last token
  Index as_of;                      // the applied state that was read
};
// The answer of Client::sessions().
struct SessionList {
  std::vector<SessionInfo> sessions;  // ascending ids
  bool more = false;                  // ask again after the last one
  Index as_of;                        // the applied state that was read
};
// "Only while this lock is held with this token", or "only while it is not held": a condition of a
// write. The log decides it right before the write would take effect, so that a holder whose time
// is over changes nothing (docs/semantics.md S-54, S-60).
struct Fence {
  // The condition that a fence sets.
  enum class Wants : uint8_t {
    Held,             // with this token, in any mode
    HeldExclusively,  // with this token; a shared hold is not enough
    Free,             // not held; the token is zero. Others may wait for it, and a lock-delay may
                      // run
  };
  std::string lock;           // the name; empty: refused as kInvalidArgument
  Token token;                // of the hold; zero only with Free
  Wants wants = Wants::Held;  // by default that it is held in any mode
  // Set by fenced_by(). The process that lends a sticky lock (S-58) refuses a hold that is over
  // before it reaches the log, which would not know. It recognises the hold by this field, or by
  // the token if the fence was made by hand. In another process, to which a token was sent, the log
  // alone decides. It accepts any token of the block that is lent now, until a newer token was
  // shown to it.
  HoldRef hold = {};
};
// "Only while this hold is held, in any mode." Null: a fence that is refused.
Fence fenced_by(const HoldRef& hold);
// "Only while no owner holds this lock." Others may wait for it, and a lock-delay may run.
Fence while_free(std::string lock);

// Options of calls that go through the log.
struct WriteOptions {
  CallDeadline deadline = {};       // of the call; absent: as CallDeadline says
  std::optional<Fence> fence = {};  // not met: Fenced, not executed. Absent: none
};

// The answer of a host's state machine to a command, and to a question.
struct ProposeResult {
  std::string bytes;  // that the machine's apply gave: at most 1 MiB
  Index index;        // of the entry
};
// The answer of Client::query().
struct QueryResult {
  std::string bytes;            // that the machine's query() gave
  Index as_of;                  // the applied state that was read
  std::optional<Duration> age;  // as in GetResult
};
// The answer of a read of one key.
struct GetResult {
  std::optional<KeyValue> entry;  // nullopt: there is no such key
  Revision revision;              // of the store that was read
  Index as_of;                    // the applied state that was read
  // Local reads: how long ago that state was the newest one, as far as this replica knows from its
  // leader. Not a bound (a message's travel is not counted). Absent: it has heard nothing since it
  // started.
  std::optional<Duration> age;
};
// The answer of a put.
struct PutResult {
  Revision revision;                      // of the store after it: the put's own
  Index index;                            // of the entry
  std::string key = {};                   // of a sequential put: the key it made
  std::optional<KeyValue> previous = {};  // if requested, and there was one
};
// The answer of a deletion.
struct EraseResult {
  uint64_t deleted = 0;                 // keys; zero: there were none, and the revision stays
  Revision revision;                    // of the store after it
  Index index;                          // of the entry
  std::vector<KeyValue> previous = {};  // if requested, by key
};

// Counts of the client's own records; for tests of leaks and for health pages.
struct ClientStatus {
  size_t calls = 0;       // callers that wait
  size_t tickets = 0;     // submissions and questions in the engine
  size_t opens = 0;       // session opens whose outcome is not known, given-up callers included
  size_t sessions = 0;    // not ended as far as is known
  size_t holds = 0;       // granted here, release not acknowledged
  size_t releases = 0;    // posted and not acknowledged
  size_t orphans = 0;     // sessions bound to this process that it does not know: they are left to
                          // expire
  uint64_t attempts = 0;  // renewals sent
  uint64_t looks = 0;     // at sessions, because time had passed, and at TTLs: the cost of late
                          // turns and many TTLs
};

}  // namespace coordkit

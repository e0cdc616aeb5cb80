// The machine's answer to a request, and the events that it announces: plain values and their bytes
// (proto/coordkit/v1/machine.proto). Both are replicated: equal on every replica, bit for bit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordination/step.h"
#include "coordkit/types.h"
#include "machine/field_list.h"

namespace coordkit::machine {

// The reasons of docs/semantics.md that apply can give. Numbers are part of the format and never reused.
enum class ResultCode : uint8_t {
  Ok = 1,       // done; which fields are valid depends on the request
  Granted = 2,  // `token` and `since` name the hold
  Queued = 3,   // only with Stage::Queued: the final answer comes later under the same request id

  Held = 10,     // a try that cannot be granted now
  Delayed = 11,  // a lock-delay runs
  WaitTimeout = 12,
  Cancelled = 13,
  Lost = 14,         // the session ended while the acquire waited, is ending, or belongs to another process now
  AlreadyHeld = 15,  // `token` and `since` name the hold that this owner has
  AlreadyWaiting = 16,
  NotOwner = 17,
  SessionNotFound = 18,
  Deadlock = 19,         // the wait would have closed a cycle
  UpgradeConflict = 20,  // the hold is not the only one
  Fenced = 21,           // reserved
  NotFound = 22,

  InvalidArgument = 30,
  EmptyKey = 31,
  LimitExceeded = 32,
  TtlTooLarge = 33,
  Unsupported = 34,
  KeyNotFound = 35,  // there is no value or lease to keep
  CounterOverflow = 36,

  PermissionDenied = 40,  // a resume with the wrong secret; with `why`: a right is missing

  Broken = 70,          // the barrier broke while the caller waited
  TooManyParties = 71,  // the previous cycle has not ended
  AlreadyExists = 72,   // `id` names the existing member

  Compacted = 90,       // the revision is below `compacted`
  FutureRevision = 91,  // the revision is above `revision`
  ValueProvided = 92,
  LeaseProvided = 93,
  LeaseNotFound = 94,
  TooManyOps = 95,
  DuplicateKey = 96,
  InvalidSort = 97,

  LeaseExists = 100,
  NoSpace = 101,  // the keys have no room for the put (S-35)
};

// Whether the command took effect (Done) or never will (None). Apply knows; it never answers Unknown.
enum class ResultOutcome : uint8_t { None, Done };

std::string_view reason_of(ResultCode code);       // "WaitTimeout"; stable, for tests and messages
absl::StatusCode status_code_of(ResultCode code);  // kOk for Ok, Granted and Queued
ResultOutcome outcome_of(ResultCode code);

// One shape for all answers; fields that do not apply are zero.
struct Result {
  ResultCode code = ResultCode::Ok;
  Revision revision;           // always: the store's revision after this entry (docs/semantics.md S-04)
  Token token;                 // Granted, AlreadyHeld; upgrade, downgrade: the new token
  Index since;                 // Granted, AlreadyHeld: the entry that granted; AlreadyWaiting: the entry that queued
  SessionId session;           // opened, resumed; killed, also by its hold: the ending session
  Duration ttl{};              // opened, resumed: as granted, never below the requested one
  uint64_t position = 0;       // Queued: waiters before this one
  uint64_t deleted = 0;        // keys deleted
  bool previous_gone = false;  // resumed: no process that had the session before can still trust it
  uint64_t releases = 0;       // Granted again: how many releases have counted this hold down so far
  Index id;                    // of a member, of an item
  int64_t number = 0;          // of a counter, a latch; deliveries of an item before this one
  bool swapped = false;        // a compare-and-set succeeded
  std::string value = {};      // of an item
  std::string reply = {};      // of an operation on keys that reports more: an encoded OperationReply (kv_codec.h)
  Revision compacted = {};     // Compacted, and answers to questions about keys: reads below it are refused
  std::string why = {};        // PermissionDenied of a remote: the right that is missing, in a sentence
  LeaseId lease = {};          // granted; `session` is its number, `ttl` the granted one, also after a renewal
  void make_blank() { code = ResultCode(0); }
  static constexpr auto fields() {
    using R = Result;
    return std::tuple(&R::code, &R::revision, &R::token, &R::since, &R::session, &R::ttl, &R::position, &R::deleted,
                      at(20, &R::releases), at(30, &R::previous_gone), at(40, &R::id), &R::number, &R::swapped, &R::value,
                      at(80, &R::reply), &R::compacted, at(100, &R::lease), at(110, &R::why));
  }
  friend bool operator==(const Result&, const Result&) = default;
};

std::string encode(const Result& result);
void encode(const Result& result, std::string& bytes);         // replaces the contents of `bytes`, keeping its capacity
absl::StatusOr<Result> decode_result(std::string_view bytes);  // kDataLoss: malformed

// Events of a session name the node of its process, for gateways, which pass events on (docs/decisions/0052).

// Announced to every replica in the apply that ended the session.
struct SessionEnded {
  enum class Reason : uint8_t { Closed = 1, Expired = 2, Killed = 3 };
  SessionId session;
  Reason reason = Reason::Closed;
  ReplicaId node;  // whose it was; zero in bytes of an older version
  static constexpr uint32_t kField = 1;
  void make_blank() { reason = Reason::Expired; }
  static constexpr auto fields() { return std::tuple(&SessionEnded::session, &SessionEnded::reason, &SessionEnded::node); }
  friend bool operator==(const SessionEnded&, const SessionEnded&) = default;
};

// Announced in the apply that bound the session to another process: the previous process has lost it.
struct SessionResumed {
  SessionId session;
  ReplicaId node;
  BootCounter boot;
  uint64_t incarnation = 0;
  ReplicaId previous;  // the node of the previous process
  static constexpr uint32_t kField = 10;
  static constexpr auto fields() {
    using S = SessionResumed;
    return std::tuple(&S::session, &S::node, &S::boot, &S::incarnation, &S::previous);
  }
  friend bool operator==(const SessionResumed&, const SessionResumed&) = default;
};

// Announced in the apply that marked the session: it is no longer renewed and ends a TTL later (S-57).
struct SessionEnding {
  SessionId session;
  ReplicaId node;  // whose it is
  static constexpr uint32_t kField = 11;
  static constexpr auto fields() { return std::tuple(&SessionEnding::session, &SessionEnding::node); }
  friend bool operator==(const SessionEnding&, const SessionEnding&) = default;
};

// Announced in the apply in which another session wanted a lock that this session has as a delegation (S-58): give it back.
struct DelegationAsked {
  SessionId session;
  std::string name;
  Token token;  // of the hold
  static constexpr uint32_t kField = 25;
  static constexpr auto fields() {
    return std::tuple(&DelegationAsked::session, &DelegationAsked::name, &DelegationAsked::token);
  }
  friend bool operator==(const DelegationAsked&, const DelegationAsked&) = default;
};

// std::monostate: a kind this version does not know; skip it.
using Event = std::variant<std::monostate, SessionEnded, SessionResumed, SessionEnding, coordination::Change, DelegationAsked>;

std::string encode(const Event& event);
absl::StatusOr<Event> decode_event(std::string_view bytes);  // kDataLoss: malformed

}  // namespace coordkit::machine

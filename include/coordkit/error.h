// Failed operations: an absl status code, a stable reason, and an outcome that says whether a retry
// is safe.
//
//   NONE     no effect now or ever; retry as a new operation if the reason suggests it can succeed
//   UNKNOWN  may have taken effect, or may still; the library itself retries under the same request
//            id until the deadline
//   DONE     took effect; the error is the definite answer of the command (such as a wait that
//            timed out)
//
// Both are words at the start of the message, for people and programs alike. The reason comes
// first, as in "Held: another session has it". An outcome follows if it is not the usual one of the
// reason, as in "Stopped (may have taken effect): closed here". So reason and outcome survive
// wherever a status's code and message do, and a status prints as a sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "coordkit/export.h"
#include "coordkit/name_of.h"

namespace COORDKIT_EXPORT coordkit {

// Whether a failed operation took effect.
enum class Outcome : uint8_t { NoEffect = 1, Unknown = 2, Done = 3 };

// Stable names, testable; numbers may travel in replicated results and are never reused.
enum class Reason : uint16_t {
  EmptyKey = 1,
  InvalidArgument = 2,
  RequestTooLarge = 3,
  SequenceReused = 4,
  SessionNotFound = 5,
  MemberNotFound = 6,
  NotFound = 7,
  TtlTooLarge = 8,
  AlreadyHeld = 9,
  AlreadyWaiting = 10,
  NotOwner = 11,
  Held = 12,
  Fenced = 13,
  SequenceRetired = 14,
  UnknownOrigin = 15,
  NotMember = 16,
  NoSpace = 17,
  TooManyRequests = 18,
  TooManyInFlight = 19,
  LimitExceeded = 20,
  Lost = 21,
  WaitTimeout = 22,
  CallTimeout = 23,
  Cancelled = 24,
  CancelPending = 25,
  NoLeader = 26,
  NotLeader = 27,
  LeadershipLost = 28,
  Stopped = 29,
  Closed = 30,
  NotReady = 31,
  ReplicaFailed = 32,
  Corrupt = 33,
  PermissionDenied = 34,
  Unsupported = 35,
  Conflict = 36,
  NotEnoughVoters = 37,
  ChangeInProgress = 38,
  Removed = 39,
  AlreadyExists = 40,
  ResultTooLarge = 41,
  Delayed = 42,
  Deadlock = 43,
  UpgradeConflict = 44,
  CounterOverflow = 45,
  Broken = 46,
  TooManyParties = 47,
  Compacted = 48,
  EmptyRange = 49,
  FutureRevision = 50,
  KeyNotFound = 51,
  LeaseNotFound = 52,
  ValueProvided = 53,
  LeaseProvided = 54,
  TooManyOps = 55,
  DuplicateKey = 56,
  InvalidSort = 57,
  WatchNotFound = 58,
  LeaseExists = 59,
  InCallback = 60,       // a call that would wait for the very thread it was made on
  HostThrew = 61,        // code of the host, called back, threw an exception
  InUse = 62,            // a directory or file that another process has open
  ForeignData = 63,      // what lies there is not this replica's, or not coordkit's
  NewerFormat = 64,      // written by a newer version
  CannotListen = 65,     // the port is taken, or the address is not this machine's
  StorageFailed = 66,    // a disk that answers with errors
  BrokenInvariant = 67,  // a fact that must hold did not: a bug, or bad memory
  MachineMissing = 68,   // the log has commands of a machine that this replica does not host
  OutOfMemory = 69,      // an allocation failed
};

// The usual outcome of a reason. For a few reasons it depends on the moment; their callers pass it.
Outcome default_outcome(Reason reason);
absl::StatusCode code_of(Reason reason);  // the status code that goes with a reason
std::string_view name_of(Reason reason);  // as in the enum; "?" for an unknown number

// Makes a status with code, reason and outcome. `message` is a sentence that the user can act on.
// If it begins with the reason, that reason is dropped.
absl::Status make_error(Reason reason, std::string_view message);
// The same with an outcome that the moment decides. The message names it if it is not the usual one
// of the reason.
absl::Status make_error(Reason reason, Outcome outcome, std::string_view message);

// The inverse of make_error(): the reason of a status whose message begins with the reason's name
// and whose code is the reason's. Any other status (OK included) has no reason; its outcome is
// UNKNOWN unless it is OK.
std::optional<Reason> reason_of(const absl::Status& status);
// Done for OK; Unknown for a status without a reason.
Outcome outcome_of(const absl::Status& status);
// The message without reason and outcome, for use in another sentence. Valid as long as the status.
std::string_view sentence_of(const absl::Status& status);

// Reasons as std::error_code. The standard-shaped locks (Mutex, SharedMutex, MultiLock) throw them:
//
//   catch (const std::system_error& failure) {
//     if (failure.code() == Reason::Closed) ...              the failure, in coordkit's words
//     if (failure.code() == std::errc::timed_out) ...        the same in the standard's words, if
//                                                            it has one
//   }
//
// The category's values are those of Reason, its name is "coordkit". message(): the name of the
// reason.
const std::error_category& error_category();
std::error_code make_error_code(Reason reason);  // makes the code of a std::system_error

}  // namespace coordkit

template <>
struct std::is_error_code_enum<coordkit::Reason> : std::true_type {};

// Failed operations: an absl status code, a stable reason, and an outcome that says whether a retry is safe.
//
//   NONE     no effect now or ever; retry as a new operation if the reason suggests it can succeed
//   UNKNOWN  may have taken effect, or may still; the library itself retries under the same request id until the deadline
//   DONE     took effect; the error is the definite answer of the command (a wait that timed out, say)
//
// Reasons travel in a payload of the status, so that they survive being passed around as absl::Status.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"

namespace coordkit {

enum class Outcome : uint8_t { None = 1, Unknown = 2, Done = 3 };

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
};

// The usual outcome of a reason; a few depend on the moment, those callers pass it.
Outcome default_outcome(Reason reason);
absl::StatusCode code_of(Reason reason);
std::string_view name_of(Reason reason);

// A status with code, reason and outcome. `message` is a sentence the user can act on.
absl::Status make_error(Reason reason, std::string_view message);
absl::Status make_error(Reason reason, Outcome outcome, std::string_view message);

// What make_error put in. A status without a reason (OK included) gives nothing; its outcome reads as UNKNOWN unless OK.
std::optional<Reason> reason_of(const absl::Status& status);
Outcome outcome_of(const absl::Status& status);

}  // namespace coordkit

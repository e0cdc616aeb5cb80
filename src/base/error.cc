#include "coordkit/error.h"

#include <array>
#include <string>

#include "absl/strings/cord.h"

namespace coordkit {
namespace {

constexpr char kPayloadUrl[] = "coordkit/reason";

struct Row {
  Reason reason;
  absl::StatusCode code;
  Outcome outcome;
  std::string_view name;
};

using enum absl::StatusCode;
constexpr std::array kRows = {
    Row{Reason::EmptyKey, kInvalidArgument, Outcome::None, "EmptyKey"},
    Row{Reason::InvalidArgument, kInvalidArgument, Outcome::None, "InvalidArgument"},
    Row{Reason::RequestTooLarge, kInvalidArgument, Outcome::None, "RequestTooLarge"},
    Row{Reason::SequenceReused, kInvalidArgument, Outcome::None, "SequenceReused"},
    Row{Reason::SessionNotFound, kNotFound, Outcome::None, "SessionNotFound"},
    Row{Reason::MemberNotFound, kNotFound, Outcome::None, "MemberNotFound"},
    Row{Reason::NotFound, kNotFound, Outcome::None, "NotFound"},
    Row{Reason::TtlTooLarge, kOutOfRange, Outcome::None, "TtlTooLarge"},
    Row{Reason::AlreadyHeld, kAlreadyExists, Outcome::None, "AlreadyHeld"},
    Row{Reason::AlreadyWaiting, kAlreadyExists, Outcome::None, "AlreadyWaiting"},
    Row{Reason::NotOwner, kFailedPrecondition, Outcome::None, "NotOwner"},
    Row{Reason::Held, kFailedPrecondition, Outcome::None, "Held"},
    Row{Reason::Fenced, kFailedPrecondition, Outcome::None, "Fenced"},
    Row{Reason::SequenceRetired, kFailedPrecondition, Outcome::Unknown, "SequenceRetired"},
    Row{Reason::UnknownOrigin, kFailedPrecondition, Outcome::Unknown, "UnknownOrigin"},
    Row{Reason::NotMember, kFailedPrecondition, Outcome::None, "NotMember"},
    Row{Reason::NoSpace, kResourceExhausted, Outcome::None, "NoSpace"},
    Row{Reason::TooManyRequests, kResourceExhausted, Outcome::None, "TooManyRequests"},
    Row{Reason::TooManyInFlight, kResourceExhausted, Outcome::None, "TooManyInFlight"},
    Row{Reason::LimitExceeded, kResourceExhausted, Outcome::None, "LimitExceeded"},
    Row{Reason::Lost, kAborted, Outcome::Done, "Lost"},
    Row{Reason::WaitTimeout, kDeadlineExceeded, Outcome::Done, "WaitTimeout"},
    Row{Reason::CallTimeout, kDeadlineExceeded, Outcome::Unknown, "CallTimeout"},
    Row{Reason::Cancelled, kCancelled, Outcome::Done, "Cancelled"},
    Row{Reason::CancelPending, kCancelled, Outcome::Unknown, "CancelPending"},
    Row{Reason::NoLeader, kUnavailable, Outcome::None, "NoLeader"},
    Row{Reason::NotLeader, kUnavailable, Outcome::None, "NotLeader"},
    Row{Reason::LeadershipLost, kUnavailable, Outcome::Unknown, "LeadershipLost"},
    Row{Reason::Stopped, kUnavailable, Outcome::None, "Stopped"},
    Row{Reason::Closed, kFailedPrecondition, Outcome::None, "Closed"},
    Row{Reason::NotReady, kUnavailable, Outcome::None, "NotReady"},
    Row{Reason::ReplicaFailed, kDataLoss, Outcome::None, "ReplicaFailed"},
    Row{Reason::Corrupt, kDataLoss, Outcome::None, "Corrupt"},
    Row{Reason::PermissionDenied, kPermissionDenied, Outcome::None, "PermissionDenied"},
    Row{Reason::Unsupported, kUnimplemented, Outcome::None, "Unsupported"},
    Row{Reason::Conflict, kAborted, Outcome::None, "Conflict"},
    Row{Reason::NotEnoughVoters, kFailedPrecondition, Outcome::None, "NotEnoughVoters"},
    Row{Reason::ChangeInProgress, kFailedPrecondition, Outcome::None, "ChangeInProgress"},
    Row{Reason::Removed, kFailedPrecondition, Outcome::None, "Removed"},
    Row{Reason::AlreadyExists, kAlreadyExists, Outcome::None, "AlreadyExists"},
    Row{Reason::ResultTooLarge, kResourceExhausted, Outcome::Done, "ResultTooLarge"},
    Row{Reason::Delayed, kFailedPrecondition, Outcome::None, "Delayed"},
    Row{Reason::Deadlock, kAborted, Outcome::None, "Deadlock"},
    Row{Reason::UpgradeConflict, kFailedPrecondition, Outcome::None, "UpgradeConflict"},
    Row{Reason::CounterOverflow, kOutOfRange, Outcome::None, "CounterOverflow"},
    Row{Reason::Broken, kAborted, Outcome::Done, "Broken"},
    Row{Reason::TooManyParties, kResourceExhausted, Outcome::None, "TooManyParties"},
    Row{Reason::Compacted, kOutOfRange, Outcome::None, "Compacted"},
    Row{Reason::EmptyRange, kInvalidArgument, Outcome::None, "EmptyRange"},
    Row{Reason::FutureRevision, kOutOfRange, Outcome::None, "FutureRevision"},
    Row{Reason::KeyNotFound, kNotFound, Outcome::None, "KeyNotFound"},
    Row{Reason::LeaseNotFound, kNotFound, Outcome::None, "LeaseNotFound"},
    Row{Reason::ValueProvided, kInvalidArgument, Outcome::None, "ValueProvided"},
    Row{Reason::LeaseProvided, kInvalidArgument, Outcome::None, "LeaseProvided"},
    Row{Reason::TooManyOps, kInvalidArgument, Outcome::None, "TooManyOps"},
    Row{Reason::DuplicateKey, kInvalidArgument, Outcome::None, "DuplicateKey"},
    Row{Reason::InvalidSort, kInvalidArgument, Outcome::None, "InvalidSort"},
    Row{Reason::WatchNotFound, kNotFound, Outcome::None, "WatchNotFound"},
    Row{Reason::LeaseExists, kAlreadyExists, Outcome::None, "LeaseExists"},
};

constexpr bool rows_are_indexable() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<size_t>(kRows[i].reason) != i + 1) return false;
  }
  return true;
}
static_assert(rows_are_indexable(), "one row per reason, in the order of the numbers");

const Row& row_of(Reason reason) { return kRows[static_cast<size_t>(reason) - 1]; }

}  // namespace

Outcome default_outcome(Reason reason) { return row_of(reason).outcome; }
absl::StatusCode code_of(Reason reason) { return row_of(reason).code; }
std::string_view name_of(Reason reason) { return row_of(reason).name; }

absl::Status make_error(Reason reason, std::string_view message) {
  return make_error(reason, default_outcome(reason), message);
}

absl::Status make_error(Reason reason, Outcome outcome, std::string_view message) {
  absl::Status status(code_of(reason), std::string(name_of(reason)).append(": ").append(message));
  const auto number = static_cast<uint16_t>(reason);
  const char packed[3] = {static_cast<char>(number & 0xff), static_cast<char>(number >> 8), static_cast<char>(outcome)};
  status.SetPayload(kPayloadUrl, absl::Cord(absl::string_view(packed, sizeof packed)));
  return status;
}

std::optional<Reason> reason_of(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayloadUrl);
  if (!payload || payload->size() != 3) return std::nullopt;
  const std::string packed(*payload);
  const size_t number = static_cast<uint8_t>(packed[0]) | static_cast<size_t>(static_cast<uint8_t>(packed[1])) << 8;
  if (number == 0 || number > kRows.size()) return std::nullopt;
  return static_cast<Reason>(number);
}

Outcome outcome_of(const absl::Status& status) {
  if (status.ok()) return Outcome::Done;
  const auto payload = status.GetPayload(kPayloadUrl);
  if (!payload || payload->size() != 3) return Outcome::Unknown;
  return static_cast<Outcome>(std::string(*payload)[2]);
}

}  // namespace coordkit

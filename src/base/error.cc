#include "coordkit/error.h"

#include <algorithm>
#include <array>
#include <string>

namespace coordkit {
namespace {

struct Row {
  Reason reason;
  absl::StatusCode code;
  Outcome outcome;
  std::string_view name;
};

using enum absl::StatusCode;
constexpr std::array kRows = {
    Row{Reason::EmptyKey, kInvalidArgument, Outcome::NoEffect, "EmptyKey"},
    Row{Reason::InvalidArgument, kInvalidArgument, Outcome::NoEffect, "InvalidArgument"},
    Row{Reason::RequestTooLarge, kInvalidArgument, Outcome::NoEffect, "RequestTooLarge"},
    Row{Reason::SequenceReused, kInvalidArgument, Outcome::NoEffect, "SequenceReused"},
    Row{Reason::SessionNotFound, kNotFound, Outcome::NoEffect, "SessionNotFound"},
    Row{Reason::MemberNotFound, kNotFound, Outcome::NoEffect, "MemberNotFound"},
    Row{Reason::NotFound, kNotFound, Outcome::NoEffect, "NotFound"},
    Row{Reason::TtlTooLarge, kOutOfRange, Outcome::NoEffect, "TtlTooLarge"},
    Row{Reason::AlreadyHeld, kAlreadyExists, Outcome::NoEffect, "AlreadyHeld"},
    Row{Reason::AlreadyWaiting, kAlreadyExists, Outcome::NoEffect, "AlreadyWaiting"},
    Row{Reason::NotOwner, kFailedPrecondition, Outcome::NoEffect, "NotOwner"},
    Row{Reason::Held, kFailedPrecondition, Outcome::NoEffect, "Held"},
    Row{Reason::Fenced, kFailedPrecondition, Outcome::NoEffect, "Fenced"},
    Row{Reason::SequenceRetired, kFailedPrecondition, Outcome::Unknown, "SequenceRetired"},
    Row{Reason::UnknownOrigin, kFailedPrecondition, Outcome::Unknown, "UnknownOrigin"},
    Row{Reason::NotMember, kFailedPrecondition, Outcome::NoEffect, "NotMember"},
    Row{Reason::NoSpace, kResourceExhausted, Outcome::NoEffect, "NoSpace"},
    Row{Reason::TooManyRequests, kResourceExhausted, Outcome::NoEffect, "TooManyRequests"},
    Row{Reason::TooManyInFlight, kResourceExhausted, Outcome::NoEffect, "TooManyInFlight"},
    Row{Reason::LimitExceeded, kResourceExhausted, Outcome::NoEffect, "LimitExceeded"},
    Row{Reason::Lost, kAborted, Outcome::Done, "Lost"},
    Row{Reason::WaitTimeout, kDeadlineExceeded, Outcome::Done, "WaitTimeout"},
    Row{Reason::CallTimeout, kDeadlineExceeded, Outcome::Unknown, "CallTimeout"},
    Row{Reason::Cancelled, kCancelled, Outcome::Done, "Cancelled"},
    Row{Reason::CancelPending, kCancelled, Outcome::Unknown, "CancelPending"},
    Row{Reason::NoLeader, kUnavailable, Outcome::NoEffect, "NoLeader"},
    Row{Reason::NotLeader, kUnavailable, Outcome::NoEffect, "NotLeader"},
    Row{Reason::LeadershipLost, kUnavailable, Outcome::Unknown, "LeadershipLost"},
    Row{Reason::Stopped, kUnavailable, Outcome::NoEffect, "Stopped"},
    Row{Reason::Closed, kFailedPrecondition, Outcome::NoEffect, "Closed"},
    Row{Reason::NotReady, kUnavailable, Outcome::NoEffect, "NotReady"},
    Row{Reason::ReplicaFailed, kDataLoss, Outcome::NoEffect, "ReplicaFailed"},
    Row{Reason::Corrupt, kDataLoss, Outcome::NoEffect, "Corrupt"},
    Row{Reason::PermissionDenied, kPermissionDenied, Outcome::NoEffect, "PermissionDenied"},
    Row{Reason::Unsupported, kUnimplemented, Outcome::NoEffect, "Unsupported"},
    Row{Reason::Conflict, kAborted, Outcome::NoEffect, "Conflict"},
    Row{Reason::NotEnoughVoters, kFailedPrecondition, Outcome::NoEffect, "NotEnoughVoters"},
    Row{Reason::ChangeInProgress, kFailedPrecondition, Outcome::NoEffect, "ChangeInProgress"},
    Row{Reason::Removed, kFailedPrecondition, Outcome::NoEffect, "Removed"},
    Row{Reason::AlreadyExists, kAlreadyExists, Outcome::NoEffect, "AlreadyExists"},
    Row{Reason::ResultTooLarge, kResourceExhausted, Outcome::Done, "ResultTooLarge"},
    Row{Reason::Delayed, kFailedPrecondition, Outcome::NoEffect, "Delayed"},
    Row{Reason::Deadlock, kAborted, Outcome::NoEffect, "Deadlock"},
    Row{Reason::UpgradeConflict, kFailedPrecondition, Outcome::NoEffect, "UpgradeConflict"},
    Row{Reason::CounterOverflow, kOutOfRange, Outcome::NoEffect, "CounterOverflow"},
    Row{Reason::Broken, kAborted, Outcome::Done, "Broken"},
    Row{Reason::TooManyParties, kResourceExhausted, Outcome::NoEffect, "TooManyParties"},
    Row{Reason::Compacted, kOutOfRange, Outcome::NoEffect, "Compacted"},
    Row{Reason::EmptyRange, kInvalidArgument, Outcome::NoEffect, "EmptyRange"},
    Row{Reason::FutureRevision, kOutOfRange, Outcome::NoEffect, "FutureRevision"},
    Row{Reason::KeyNotFound, kNotFound, Outcome::NoEffect, "KeyNotFound"},
    Row{Reason::LeaseNotFound, kNotFound, Outcome::NoEffect, "LeaseNotFound"},
    Row{Reason::ValueProvided, kInvalidArgument, Outcome::NoEffect, "ValueProvided"},
    Row{Reason::LeaseProvided, kInvalidArgument, Outcome::NoEffect, "LeaseProvided"},
    Row{Reason::TooManyOps, kInvalidArgument, Outcome::NoEffect, "TooManyOps"},
    Row{Reason::DuplicateKey, kInvalidArgument, Outcome::NoEffect, "DuplicateKey"},
    Row{Reason::InvalidSort, kInvalidArgument, Outcome::NoEffect, "InvalidSort"},
    Row{Reason::WatchNotFound, kNotFound, Outcome::NoEffect, "WatchNotFound"},
    Row{Reason::LeaseExists, kAlreadyExists, Outcome::NoEffect, "LeaseExists"},
    Row{Reason::InCallback, kFailedPrecondition, Outcome::NoEffect, "InCallback"},
    Row{Reason::HostThrew, kInternal, Outcome::Unknown, "HostThrew"},
    Row{Reason::InUse, kFailedPrecondition, Outcome::NoEffect, "InUse"},
    Row{Reason::ForeignData, kFailedPrecondition, Outcome::NoEffect, "ForeignData"},
    Row{Reason::NewerFormat, kFailedPrecondition, Outcome::NoEffect, "NewerFormat"},
    Row{Reason::CannotListen, kUnavailable, Outcome::NoEffect, "CannotListen"},
    Row{Reason::StorageFailed, kDataLoss, Outcome::Unknown, "StorageFailed"},
    Row{Reason::BrokenInvariant, kInternal, Outcome::Unknown, "BrokenInvariant"},
    Row{Reason::MachineMissing, kFailedPrecondition, Outcome::NoEffect, "MachineMissing"},
    Row{Reason::OutOfMemory, kResourceExhausted, Outcome::Unknown, "OutOfMemory"},
};

constexpr bool rows_are_indexable() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<size_t>(kRows[i].reason) != i + 1) return false;
  }
  return true;
}
static_assert(rows_are_indexable(), "one row per reason, in the order of the numbers");

const Row& row_of(Reason reason) { return kRows[static_cast<size_t>(reason) - 1]; }
bool known(Reason reason) { return reason >= kRows.front().reason && reason <= kRows.back().reason; }

// The text between the reason and the colon, for each outcome; empty if it is the usual outcome for the reason.
constexpr std::array<std::string_view, 3> kRemarks = {" (no effect)", " (may have taken effect)", " (took effect)"};
constexpr std::string_view kColon = ": ";

// The part that make_error puts before the sentence.
struct Head {
  const Row* row = nullptr;  // null: there is none
  Outcome outcome = Outcome::Unknown;
  size_t size = 0;
};

Head head_of(std::string_view message) {
  const size_t end = message.find_first_of(" :");
  if (end == std::string_view::npos || message.front() < 'A' || message.front() > 'Z') return {};
  const std::string_view name = message.substr(0, end);
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& one) { return one.name == name; });
  if (row == kRows.end()) return {};
  const std::string_view rest = message.substr(end);
  if (rest.starts_with(kColon)) return {&*row, row->outcome, end + kColon.size()};
  for (size_t i = 0; i < kRemarks.size(); ++i) {
    const bool remarked = rest.starts_with(kRemarks[i]) && rest.substr(kRemarks[i].size()).starts_with(kColon);
    if (remarked) return {&*row, static_cast<Outcome>(i + 1), end + kRemarks[i].size() + kColon.size()};
  }
  return {};
}

std::string_view message_of(const absl::Status& status) { return {status.message().data(), status.message().size()}; }

// For a status of this library: a message that only looks like one has another code.
Head head_of(const absl::Status& status) {
  const Head head = head_of(message_of(status));
  return head.row != nullptr && head.row->code == status.code() ? head : Head();
}

}  // namespace

Outcome default_outcome(Reason reason) { return row_of(reason).outcome; }
absl::StatusCode code_of(Reason reason) { return row_of(reason).code; }
std::string_view name_of(Reason reason) { return known(reason) ? row_of(reason).name : "?"; }

absl::Status make_error(Reason reason, std::string_view message) {
  return make_error(reason, default_outcome(reason), message);
}

absl::Status make_error(Reason reason, Outcome outcome, std::string_view message) {
  const Row& row = row_of(reason);
  std::string text(row.name);
  if (outcome != row.outcome) text += kRemarks[static_cast<size_t>(outcome) - 1];
  text.append(kColon).append(message.substr(head_of(message).size));
  return absl::Status(row.code, text);
}

std::optional<Reason> reason_of(const absl::Status& status) {
  const Head head = head_of(status);
  return head.row != nullptr ? std::optional(head.row->reason) : std::nullopt;
}

Outcome outcome_of(const absl::Status& status) {
  if (status.ok()) return Outcome::Done;
  return head_of(status).outcome;
}

std::string_view sentence_of(const absl::Status& status) { return message_of(status).substr(head_of(status).size); }

}  // namespace coordkit

#include "coordkit/error.h"

#include <algorithm>
#include <array>
#include <string>

#include "coordkit/name_of.h"

namespace coordkit {
namespace {

struct Row {
  Reason reason;
  absl::StatusCode code;
  Outcome outcome;
  std::string_view name;
};
template <Reason kReason>
constexpr Row row(absl::StatusCode code, Outcome outcome) {
  return {kReason, code, outcome, enum_detail::kText<kReason>.data()};
}

using enum absl::StatusCode;
constexpr std::array kRows = {
    row<Reason::EmptyKey>(kInvalidArgument, Outcome::NoEffect),
    row<Reason::InvalidArgument>(kInvalidArgument, Outcome::NoEffect),
    row<Reason::RequestTooLarge>(kInvalidArgument, Outcome::NoEffect),
    row<Reason::SequenceReused>(kInvalidArgument, Outcome::NoEffect),
    row<Reason::SessionNotFound>(kNotFound, Outcome::NoEffect),
    row<Reason::MemberNotFound>(kNotFound, Outcome::NoEffect),
    row<Reason::NotFound>(kNotFound, Outcome::NoEffect),
    row<Reason::TtlTooLarge>(kOutOfRange, Outcome::NoEffect),
    row<Reason::AlreadyHeld>(kAlreadyExists, Outcome::NoEffect),
    row<Reason::AlreadyWaiting>(kAlreadyExists, Outcome::NoEffect),
    row<Reason::NotOwner>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::Held>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::Fenced>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::SequenceRetired>(kFailedPrecondition, Outcome::Unknown),
    row<Reason::UnknownOrigin>(kFailedPrecondition, Outcome::Unknown),
    row<Reason::NotMember>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::NoSpace>(kResourceExhausted, Outcome::NoEffect),
    row<Reason::TooManyRequests>(kResourceExhausted, Outcome::NoEffect),
    row<Reason::TooManyInFlight>(kResourceExhausted, Outcome::NoEffect),
    row<Reason::LimitExceeded>(kResourceExhausted, Outcome::NoEffect),
    row<Reason::Lost>(kAborted, Outcome::Done),
    row<Reason::WaitTimeout>(kDeadlineExceeded, Outcome::Done),
    row<Reason::CallTimeout>(kDeadlineExceeded, Outcome::Unknown),
    row<Reason::Cancelled>(kCancelled, Outcome::Done),
    row<Reason::CancelPending>(kCancelled, Outcome::Unknown),
    row<Reason::NoLeader>(kUnavailable, Outcome::NoEffect),
    row<Reason::NotLeader>(kUnavailable, Outcome::NoEffect),
    row<Reason::LeadershipLost>(kUnavailable, Outcome::Unknown),
    row<Reason::Stopped>(kUnavailable, Outcome::NoEffect),
    row<Reason::Closed>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::NotReady>(kUnavailable, Outcome::NoEffect),
    row<Reason::ReplicaFailed>(kDataLoss, Outcome::NoEffect),
    row<Reason::Corrupt>(kDataLoss, Outcome::NoEffect),
    row<Reason::PermissionDenied>(kPermissionDenied, Outcome::NoEffect),
    row<Reason::Unsupported>(kUnimplemented, Outcome::NoEffect),
    row<Reason::Conflict>(kAborted, Outcome::NoEffect),
    row<Reason::NotEnoughVoters>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::ChangeInProgress>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::Removed>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::AlreadyExists>(kAlreadyExists, Outcome::NoEffect),
    row<Reason::ResultTooLarge>(kResourceExhausted, Outcome::Done),
    row<Reason::Delayed>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::Deadlock>(kAborted, Outcome::NoEffect),
    row<Reason::UpgradeConflict>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::CounterOverflow>(kOutOfRange, Outcome::NoEffect),
    row<Reason::Broken>(kAborted, Outcome::Done),
    row<Reason::TooManyParties>(kResourceExhausted, Outcome::NoEffect),
    row<Reason::Compacted>(kOutOfRange, Outcome::NoEffect),
    row<Reason::EmptyRange>(kInvalidArgument, Outcome::NoEffect),
    row<Reason::FutureRevision>(kOutOfRange, Outcome::NoEffect),
    row<Reason::KeyNotFound>(kNotFound, Outcome::NoEffect),
    row<Reason::LeaseNotFound>(kNotFound, Outcome::NoEffect),
    row<Reason::ValueProvided>(kInvalidArgument, Outcome::NoEffect),
    row<Reason::LeaseProvided>(kInvalidArgument, Outcome::NoEffect),
    row<Reason::TooManyOps>(kInvalidArgument, Outcome::NoEffect),
    row<Reason::DuplicateKey>(kInvalidArgument, Outcome::NoEffect),
    row<Reason::InvalidSort>(kInvalidArgument, Outcome::NoEffect),
    row<Reason::WatchNotFound>(kNotFound, Outcome::NoEffect),
    row<Reason::LeaseExists>(kAlreadyExists, Outcome::NoEffect),
    row<Reason::InCallback>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::HostThrew>(kInternal, Outcome::Unknown),
    row<Reason::InUse>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::ForeignData>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::NewerFormat>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::CannotListen>(kUnavailable, Outcome::NoEffect),
    row<Reason::StorageFailed>(kDataLoss, Outcome::Unknown),
    row<Reason::BrokenInvariant>(kInternal, Outcome::Unknown),
    row<Reason::MachineMissing>(kFailedPrecondition, Outcome::NoEffect),
    row<Reason::OutOfMemory>(kResourceExhausted, Outcome::Unknown),
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

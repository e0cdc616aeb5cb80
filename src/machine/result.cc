#include "machine/result.h"

#include <utility>

#include "machine/record_codec.h"

namespace coordkit::machine {

template <>
inline constexpr uint32_t fields::kNumberOf<coordination::Change> = 30;  // of an Event

namespace {

using namespace fields;  // the vocabulary of this file

struct CodeRow {  // NOLINT(clang-analyzer-optin.performance.Padding): read as a table
  ResultCode code;
  std::string_view reason;
  absl::StatusCode status;
  ResultOutcome outcome;
};

using absl::StatusCode;
constexpr CodeRow kCodes[] = {
    {ResultCode::Ok, "Ok", StatusCode::kOk, ResultOutcome::Done},
    {ResultCode::Granted, "Granted", StatusCode::kOk, ResultOutcome::Done},
    {ResultCode::Queued, "Queued", StatusCode::kOk, ResultOutcome::Done},
    {ResultCode::Held, "Held", StatusCode::kFailedPrecondition, ResultOutcome::None},
    {ResultCode::Delayed, "Delayed", StatusCode::kFailedPrecondition, ResultOutcome::None},
    {ResultCode::WaitTimeout, "WaitTimeout", StatusCode::kDeadlineExceeded, ResultOutcome::Done},
    {ResultCode::Cancelled, "Cancelled", StatusCode::kCancelled, ResultOutcome::Done},
    {ResultCode::Lost, "Lost", StatusCode::kAborted, ResultOutcome::Done},
    {ResultCode::AlreadyHeld, "AlreadyHeld", StatusCode::kAlreadyExists, ResultOutcome::None},
    {ResultCode::AlreadyWaiting, "AlreadyWaiting", StatusCode::kAlreadyExists, ResultOutcome::None},
    {ResultCode::NotOwner, "NotOwner", StatusCode::kFailedPrecondition, ResultOutcome::None},
    {ResultCode::SessionNotFound, "SessionNotFound", StatusCode::kNotFound, ResultOutcome::None},
    {ResultCode::Deadlock, "Deadlock", StatusCode::kAborted, ResultOutcome::None},
    {ResultCode::UpgradeConflict, "UpgradeConflict", StatusCode::kFailedPrecondition, ResultOutcome::None},
    {ResultCode::Fenced, "Fenced", StatusCode::kFailedPrecondition, ResultOutcome::None},
    {ResultCode::NotFound, "NotFound", StatusCode::kNotFound, ResultOutcome::None},
    {ResultCode::InvalidArgument, "InvalidArgument", StatusCode::kInvalidArgument, ResultOutcome::None},
    {ResultCode::EmptyKey, "EmptyKey", StatusCode::kInvalidArgument, ResultOutcome::None},
    {ResultCode::LimitExceeded, "LimitExceeded", StatusCode::kResourceExhausted, ResultOutcome::None},
    {ResultCode::TtlTooLarge, "TtlTooLarge", StatusCode::kOutOfRange, ResultOutcome::None},
    {ResultCode::Unsupported, "Unsupported", StatusCode::kUnimplemented, ResultOutcome::None},
    {ResultCode::KeyNotFound, "KeyNotFound", StatusCode::kNotFound, ResultOutcome::None},
    {ResultCode::CounterOverflow, "CounterOverflow", StatusCode::kOutOfRange, ResultOutcome::None},
    {ResultCode::PermissionDenied, "PermissionDenied", StatusCode::kPermissionDenied, ResultOutcome::None},
    {ResultCode::Broken, "Broken", StatusCode::kAborted, ResultOutcome::Done},
    {ResultCode::TooManyParties, "TooManyParties", StatusCode::kResourceExhausted, ResultOutcome::None},
    {ResultCode::AlreadyExists, "AlreadyExists", StatusCode::kAlreadyExists, ResultOutcome::None},
    {ResultCode::Compacted, "Compacted", StatusCode::kOutOfRange, ResultOutcome::None},
    {ResultCode::FutureRevision, "FutureRevision", StatusCode::kOutOfRange, ResultOutcome::None},
    {ResultCode::ValueProvided, "ValueProvided", StatusCode::kInvalidArgument, ResultOutcome::None},
    {ResultCode::LeaseProvided, "LeaseProvided", StatusCode::kInvalidArgument, ResultOutcome::None},
    {ResultCode::LeaseNotFound, "LeaseNotFound", StatusCode::kNotFound, ResultOutcome::None},
    {ResultCode::TooManyOps, "TooManyOps", StatusCode::kInvalidArgument, ResultOutcome::None},
    {ResultCode::DuplicateKey, "DuplicateKey", StatusCode::kInvalidArgument, ResultOutcome::None},
    {ResultCode::InvalidSort, "InvalidSort", StatusCode::kInvalidArgument, ResultOutcome::None},
    {ResultCode::LeaseExists, "LeaseExists", StatusCode::kAlreadyExists, ResultOutcome::None},
    {ResultCode::NoSpace, "NoSpace", StatusCode::kResourceExhausted, ResultOutcome::None},
};

const CodeRow* row_of(ResultCode code) {
  for (const CodeRow& row : kCodes) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

}  // namespace

std::string_view reason_of(ResultCode code) {
  const CodeRow* row = row_of(code);
  return row ? row->reason : "Unknown";
}

absl::StatusCode status_code_of(ResultCode code) {
  const CodeRow* row = row_of(code);
  return row ? row->status : StatusCode::kUnknown;
}

ResultOutcome outcome_of(ResultCode code) {
  const CodeRow* row = row_of(code);
  return row ? row->outcome : ResultOutcome::Done;
}

std::string encode(const Result& result) { return encode_record(result); }

void encode(const Result& result, std::string& bytes) {
  bytes.clear();
  CodecOf<Result>::append(bytes, result);
}

absl::StatusOr<Result> decode_result(std::string_view encoded) {
  absl::StatusOr<Result> result = decode_record<Result>(encoded, "result");
  const bool known = !result.ok() || (result->code != ResultCode(0) && result->code != ResultCode(0xff));
  if (!known) result = absl::DataLossError("a result without a known code");
  return result;
}

std::string encode(const Event& event) {
  std::string encoded;
  put_alternative(encoded, event);
  return encoded;
}

absl::StatusOr<Event> decode_event(std::string_view encoded) {
  Event event;
  if (absl::Status status = get_alternatives(encoded, StatusCode::kDataLoss, "event", event); !status.ok()) return status;
  // An unknown reason of a newer version is still an end. It is reported as the least specific one.
  auto* const ended = std::get_if<SessionEnded>(&event);
  const bool known =
      ended == nullptr || ended->reason == SessionEnded::Reason::Closed || ended->reason == SessionEnded::Reason::Killed;
  if (!known) ended->reason = SessionEnded::Reason::Expired;
  return event;
}

}  // namespace coordkit::machine

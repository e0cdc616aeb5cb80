#include "machine/result.h"

#include <utility>

#include "machine/fields.h"
#include "machine/record_codec.h"

namespace coordkit::machine {
namespace {

using namespace fields;  // the vocabulary of this file

struct CodeRow {
  ResultCode code;  // NOLINT(clang-analyzer-optin.performance.Padding): read as a table
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

SessionEnded read_session_ended(pbf_reader in) {
  SessionEnded ended;
  uint64_t reason = 0;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, ended.session); break;
      case number(2): get(in, reason); break;
      default: in.skip();
    }
  }
  // An unknown reason of a newer version still is an end: show it as the least specific one.
  ended.reason = reason == 1   ? SessionEnded::Reason::Closed
                 : reason == 3 ? SessionEnded::Reason::Killed
                               : SessionEnded::Reason::Expired;
  return ended;
}

SessionResumed read_session_resumed(pbf_reader in) {
  SessionResumed resumed;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, resumed.session); break;
      case number(2): get(in, resumed.node); break;
      case number(3): get(in, resumed.boot); break;
      case number(4): get(in, resumed.incarnation); break;
      default: in.skip();
    }
  }
  return resumed;
}

SessionEnding read_session_ending(pbf_reader in) {
  SessionEnding ending;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, ending.session); break;
      default: in.skip();
    }
  }
  return ending;
}

DelegationAsked read_delegation_asked(pbf_reader in) {
  DelegationAsked asked;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case number(1): get(in, asked.session); break;
      case bytes(2): get(in, asked.name); break;
      case number(3): get(in, asked.token); break;
      default: in.skip();
    }
  }
  return asked;
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

std::string encode(const Result& result) {
  std::string bytes;
  pbf_writer out(bytes);
  put_number(out, 1, static_cast<uint64_t>(result.code));
  put_number(out, 2, result.revision);
  put_number(out, 3, result.token);
  put_number(out, 4, result.since);
  put_number(out, 5, result.session);
  put_duration(out, 6, result.ttl);
  put_number(out, 7, result.position);
  put_number(out, 8, result.deleted);
  put_number(out, 20, result.releases);
  put_number(out, 30, uint64_t{result.former_gone});
  put_number(out, 40, result.id);
  put_field(out, 41, result.number);
  put_field(out, 42, result.swapped);
  put_bytes(out, 43, result.value);
  put_bytes(out, 80, result.reply);
  put_number(out, 81, result.compacted);
  put_number(out, 100, result.lease);
  return bytes;
}

absl::StatusOr<Result> decode_result(std::string_view encoded) {
  Result result;
  uint64_t code = 0;
  const auto read = [&](pbf_reader in) -> absl::Status {
    while (in.next()) {
      switch (in.tag_and_type()) {
        case number(1): get(in, code); break;
        case number(2): get(in, result.revision); break;
        case number(3): get(in, result.token); break;
        case number(4): get(in, result.since); break;
        case number(5): get(in, result.session); break;
        case number(6): get(in, result.ttl); break;
        case number(7): get(in, result.position); break;
        case number(8): get(in, result.deleted); break;
        case number(20): get(in, result.releases); break;
        case number(30): get(in, result.former_gone); break;
        case number(40): get(in, result.id); break;
        case number(41): get(in, result.number); break;
        case number(42): get(in, result.swapped); break;
        case bytes(43): get(in, result.value); break;
        case bytes(80): get(in, result.reply); break;
        case number(81): get(in, result.compacted); break;
        case number(100): get(in, result.lease); break;
        default: in.skip();
      }
    }
    if (code == 0 || code > 0xff) return absl::DataLossError("a result without a known code");
    return absl::OkStatus();
  };
  if (absl::Status status = guarded(encoded, StatusCode::kDataLoss, "result", read); !status.ok()) return status;
  result.code = ResultCode(static_cast<uint8_t>(code));
  return result;
}

std::string encode(const Event& event) {
  std::string bytes;
  pbf_writer out(bytes);
  if (const auto* ended = std::get_if<SessionEnded>(&event)) {
    pbf_writer body(out, 1);
    put_number(body, 1, ended->session);
    put_number(body, 2, static_cast<uint64_t>(ended->reason));
  }
  if (const auto* resumed = std::get_if<SessionResumed>(&event)) {
    pbf_writer body(out, 10);
    put_number(body, 1, resumed->session);
    put_number(body, 2, resumed->node);
    put_number(body, 3, resumed->boot);
    put_number(body, 4, resumed->incarnation);
  }
  if (const auto* ending = std::get_if<SessionEnding>(&event)) {
    pbf_writer body(out, 11);
    put_number(body, 1, ending->session);
  }
  if (const auto* asked = std::get_if<DelegationAsked>(&event)) {
    pbf_writer body(out, 25);
    put_number(body, 1, asked->session);
    put_bytes(body, 2, asked->name);
    put_number(body, 3, asked->token);
  }
  if (const auto* change = std::get_if<coordination::Change>(&event)) put_field(out, 30, *change);
  return bytes;
}

absl::StatusOr<Event> decode_event(std::string_view encoded) {
  Event event;
  const auto read = [&event](pbf_reader in) -> absl::Status {
    while (in.next()) {
      switch (in.tag_and_type()) {
        case bytes(1): event = read_session_ended(in.get_message()); break;
        case bytes(10): event = read_session_resumed(in.get_message()); break;
        case bytes(11): event = read_session_ending(in.get_message()); break;
        case bytes(25): event = read_delegation_asked(in.get_message()); break;
        case bytes(30): get(in, event.emplace<coordination::Change>()); break;
        default: in.skip();
      }
    }
    return absl::OkStatus();
  };
  if (absl::Status status = guarded(encoded, StatusCode::kDataLoss, "event", read); !status.ok()) return status;
  return event;
}

}  // namespace coordkit::machine

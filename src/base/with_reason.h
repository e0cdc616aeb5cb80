// Adds a reason to a status that came without one from below, as from a port of the host or a row that does not decode. A
// caller always gets a status with a reason.
#pragma once

#include <utility>

#include "coordkit/error.h"

namespace coordkit {

inline Reason usual_reason(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange: return Reason::InvalidArgument;
    case absl::StatusCode::kNotFound: return Reason::NotFound;
    case absl::StatusCode::kAlreadyExists: return Reason::AlreadyExists;
    case absl::StatusCode::kPermissionDenied: return Reason::PermissionDenied;
    case absl::StatusCode::kResourceExhausted: return Reason::LimitExceeded;
    case absl::StatusCode::kFailedPrecondition: return Reason::ForeignData;
    case absl::StatusCode::kUnimplemented: return Reason::Unsupported;
    case absl::StatusCode::kUnavailable: return Reason::NotReady;
    case absl::StatusCode::kDataLoss: return Reason::Corrupt;
    default: return Reason::BrokenInvariant;
  }
}

inline absl::Status with_reason(absl::Status status) {
  if (status.ok() || reason_of(status)) return status;
  return make_error(usual_reason(status.code()), sentence_of(status));
}

}  // namespace coordkit

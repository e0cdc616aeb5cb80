// How the standard shapes of locks report what is neither yes nor no: the only throws of this library.
#pragma once

#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "coordkit/error.h"

namespace coordkit {

[[noreturn]] inline void raise_as_system_error(const absl::Status& status) {
  const std::errc code = status.code() == absl::StatusCode::kUnavailable        ? std::errc::resource_unavailable_try_again
                         : status.code() == absl::StatusCode::kDeadlineExceeded ? std::errc::timed_out
                         : status.code() == absl::StatusCode::kAlreadyExists    ? std::errc::resource_deadlock_would_occur
                         : reason_of(status) == Reason::Deadlock                ? std::errc::resource_deadlock_would_occur
                         : status.code() == absl::StatusCode::kInvalidArgument  ? std::errc::invalid_argument
                                                                                : std::errc::owner_dead;
  throw std::system_error(std::make_error_code(code), std::string(status.message()));
}

}  // namespace coordkit

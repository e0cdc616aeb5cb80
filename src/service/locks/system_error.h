// How the standard lock interfaces report what is neither yes nor no: the only exceptions this library throws.
#pragma once

#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "coordkit/error.h"

namespace coordkit {

// A refusal for which a try function returns false.
inline bool is_no(const absl::Status& refusal) {
  const std::optional<Reason> reason = reason_of(refusal);
  return reason == Reason::WaitTimeout || reason == Reason::Held || reason == Reason::Delayed;
}

[[noreturn]] inline void raise_as_system_error(const absl::Status& status) {
  throw std::system_error(make_error_code(reason_of(status).value_or(Reason::BrokenInvariant)),
                          std::string(sentence_of(status)));
}

}  // namespace coordkit

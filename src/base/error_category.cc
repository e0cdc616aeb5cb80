#include <string>

#include "coordkit/error.h"

namespace coordkit {
namespace {

// The conditions that the standard's own mutexes report, for code that asks for a std::errc.
std::errc condition_of(Reason reason) {
  if (reason == Reason::AlreadyHeld || reason == Reason::AlreadyWaiting || reason == Reason::Deadlock ||
      reason == Reason::InCallback) {
    return std::errc::resource_deadlock_would_occur;
  }
  switch (code_of(reason)) {
    case absl::StatusCode::kUnavailable: return std::errc::resource_unavailable_try_again;
    case absl::StatusCode::kDeadlineExceeded: return std::errc::timed_out;
    case absl::StatusCode::kInvalidArgument: return std::errc::invalid_argument;
    case absl::StatusCode::kPermissionDenied: return std::errc::operation_not_permitted;
    case absl::StatusCode::kCancelled: return std::errc::operation_canceled;
    default: return std::errc::owner_dead;
  }
}

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "coordkit"; }
  std::string message(int value) const override { return std::string(name_of(static_cast<Reason>(value))); }
  std::error_condition default_error_condition(int value) const noexcept override {
    const auto reason = static_cast<Reason>(value);
    const bool known = name_of(reason) != "?";
    return known ? std::make_error_condition(condition_of(reason)) : std::error_condition(value, *this);
  }
};

}  // namespace

const std::error_category& error_category() {
  static const Category category;
  return category;
}

std::error_code make_error_code(Reason reason) { return {static_cast<int>(reason), error_category()}; }

}  // namespace coordkit

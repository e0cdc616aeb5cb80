// Opens objects for which that cannot fail in a fake. If it does, the test ends with a sentence.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/check.h"

namespace coordkit::testkit {

template <typename T>
T opened(absl::StatusOr<T> value, const char* what) {
  COORDKIT_CHECK_MSG(value.ok(), std::string(what) + ": " + value.status().ToString());
  return *std::move(value);
}

}  // namespace coordkit::testkit

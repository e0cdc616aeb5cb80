// A command of coordkit's own machine as a JSON object: its kind, and the fields that say what it is about.
#pragma once

#include <chrono>
#include <cstdint>

#include "coordkit/ports/clock.h"
#include "machine/command.h"
#include "tools/coordctl/safe_bytes.h"

namespace coordkit::coordctl {

inline int64_t milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

Json describe_command(const machine::Request& request, size_t bytes_max);

}  // namespace coordkit::coordctl

// How long a test waits for a report that a working adapter always makes. Only a defect lets it
// pass in full.
#pragma once

#include <chrono>
#include <cstdlib>

namespace coordkit::testkit {

// 60 seconds, or as many as COORDKIT_TEST_PATIENCE says.
inline std::chrono::milliseconds patience() {
  static const std::chrono::milliseconds all = []() -> std::chrono::milliseconds {
    const char* text = std::getenv("COORDKIT_TEST_PATIENCE");
    const long seconds = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
    return std::chrono::seconds(seconds > 0 ? seconds : 60);
  }();
  return all;
}

}  // namespace coordkit::testkit

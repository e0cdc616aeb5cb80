// A node's connection to the counter. One thread.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/support/line_server.h"

namespace coordkit::experiment {

class CounterClient {
 public:
  // Throws std::system_error when no one listens there.
  explicit CounterClient(uint16_t port) : counter_(port) {}
  // nullopt: refused, or the counter is gone.
  std::optional<uint64_t> read(uint64_t token);
  bool write(uint64_t token, uint64_t base);

 private:
  support::LineClient counter_;
};

}  // namespace coordkit::experiment

// A node's connection to the resource: writes a row with a token, learns whether it was accepted.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "tools/support/line_server.h"

namespace coordkit::demo {

class LedgerClient {
 public:
  // Throws std::system_error when no one listens there.
  LedgerClient(int node, uint16_t port) : node_(node), resource_(port) {}
  // True: written. False: refused, the token is old. nullopt: the resource is gone. Thread-safe.
  std::optional<bool> write_row(uint64_t token, uint64_t row);

 private:
  const int node_;
  std::mutex mutex_;
  support::LineClient resource_;
};

}  // namespace coordkit::demo

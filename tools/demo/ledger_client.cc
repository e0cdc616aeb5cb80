#include "tools/demo/ledger_client.h"

namespace coordkit::demo {

std::optional<bool> LedgerClient::write_row(uint64_t token, uint64_t row) {
  const std::lock_guard lock(mutex_);
  const std::string answer = resource_.ask(std::to_string(node_) + " " + std::to_string(token) + " " + std::to_string(row));
  return answer.empty() ? std::nullopt : std::optional(answer == "ok");
}

}  // namespace coordkit::demo

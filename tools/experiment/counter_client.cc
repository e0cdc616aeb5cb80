#include "tools/experiment/counter_client.h"

namespace coordkit::experiment {

std::optional<uint64_t> CounterClient::read(uint64_t token) {
  const std::string answer = counter_.ask("read " + std::to_string(token));
  if (!answer.starts_with("value ")) return std::nullopt;
  return std::stoull(answer.substr(6));
}

bool CounterClient::write(uint64_t token, uint64_t base) {
  return counter_.ask("write " + std::to_string(token) + " " + std::to_string(base)) == "ok";
}

}  // namespace coordkit::experiment

// Any bytes: decode_command never crashes, and a request it accepts is the same after encode and decode.
#include <cstdlib>

#include "engine/apply/log_command.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace coordkit::engine;
  const auto command = decode_command({reinterpret_cast<const char*>(data), size});
  if (!command.ok()) return 0;
  const std::string bytes = std::visit([](const auto& one) { return encode(one); }, *command);
  const auto again = decode_command(bytes);
  if (!again.ok() || again->index() != command->index()) std::abort();
  if (std::visit([](const auto& one) { return encode(one); }, *again) != bytes) std::abort();
  return 0;
}

// Any bytes: decode never crashes, and what it accepts encodes to something that decodes to the same.
#include <cstdlib>

#include "coordkit/engine/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto message = coordkit::decode({reinterpret_cast<const char*>(data), size});
  if (!message.ok()) return 0;
  const auto again = coordkit::decode(coordkit::encode(*message));
  if (!again.ok() || *again != *message) std::abort();
  return 0;
}

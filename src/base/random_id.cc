#include "base/random_id.h"

#include <random>

namespace coordkit {

uint64_t random_id() {
  std::random_device source;
  uint64_t id = 0;
  while (id == 0) id = (uint64_t{source()} << 32) | source();
  return id;
}

}  // namespace coordkit

// Random numbers with which connections identify themselves. They come from the kernel, or, for tests, from a seed.
#pragma once

#include "base/random.h"

namespace coordkit::tcp {

class Nonces {
 public:
  explicit Nonces(uint64_t seed);  // zero: from the kernel

  uint64_t next();                                 // never zero
  uint64_t instance() const { return instance_; }  // the same for all connections of one transport
  Random& random() { return random_; }             // where no secrecy is needed

 private:
  const bool seeded_;
  Random random_;
  const uint64_t instance_;
};

}  // namespace coordkit::tcp

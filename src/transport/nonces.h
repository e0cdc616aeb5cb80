// Random numbers that connections identify themselves with: of the kernel, or, for tests, of a seed.
#pragma once

#include "base/random.h"

namespace coordkit::tcp {

class Nonces {
 public:
  explicit Nonces(uint64_t seed);  // zero: of the kernel

  uint64_t next();                                 // not zero
  uint64_t instance() const { return instance_; }  // the same for all connections of one transport
  Random& random() { return random_; }             // for what needs no secrecy

 private:
  const bool seeded_;
  Random random_;
  const uint64_t instance_;
};

}  // namespace coordkit::tcp

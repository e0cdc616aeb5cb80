#include "transport/secure/nonces.h"

#include <openssl/rand.h>

#include <random>

namespace coordkit::tcp {
namespace {

uint64_t system_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace

Nonces::Nonces(uint64_t seed) : seeded_(seed != 0), random_(seeded_ ? seed : system_seed()), instance_(next()) {}

uint64_t Nonces::next() {
  uint64_t drawn = 0;
  if (seeded_) {
    drawn = random_();
  } else if (RAND_bytes(reinterpret_cast<unsigned char*>(&drawn), sizeof drawn) != 1) {
    drawn = system_seed();
  }
  return drawn != 0 ? drawn : 1;
}

}  // namespace coordkit::tcp

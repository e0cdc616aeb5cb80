// The secret that lets a restarted process take its session over (docs/semantics.md S-45). The client that opens the session
// draws it and shows it in a resume. The replicated state keeps only its hash, so that a checkpoint gives nothing away. 128
// bits of SHA-256 suffice: a secret carries 128 random bits, so finding a preimage is no easier than guessing it. Two hashes
// are compared in the plain way. A comparison in constant time guards secrets that an attacker approaches byte by byte. Here
// the attacker would have to steer the bytes of a hash, and apply answers through the log, at its own pace.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace coordkit::lease {

struct SecretHash {
  std::array<uint8_t, 16> bytes{};  // all zero: no secret, so the session cannot be resumed
  explicit operator bool() const { return *this != SecretHash{}; }
  friend bool operator==(const SecretHash&, const SecretHash&) = default;
  std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

inline SecretHash hash_of_secret(std::string_view secret) {
  const Sha256 digest = sha256(std::string("coordkit session ").append(secret));
  SecretHash hash;
  std::copy_n(digest.begin(), hash.bytes.size(), hash.bytes.begin());
  return hash;
}

}  // namespace coordkit::lease

// The facts that the ends of a connection prove without revealing them (decisions/0018, 0019). They prove that they know the
// id of the cluster, which only invited members receive. They also prove that they know the secret that the operator gave to
// all of them, if there is one.
//
//   mark      names a cluster's id in a hello: the same for equal ids, and the id cannot be derived from it
//   proof     HMAC-SHA256 over the hello that carries it, with the side that sends it. The hello holds the nonces of both
//             ends, so a proof is valid for this connection, this direction and these replicas, once: it cannot be recorded,
//             reflected or used elsewhere
//   words     with a secret the same over all bytes of the hello, including fields that the reader does not know
//   keys      of the frames of one direction, from the secret and both nonces
//
// Pure functions. All hashing is OpenSSL's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "coordkit/types.h"

namespace coordkit {

inline constexpr size_t kProofBytes = 32;
inline constexpr size_t kSecretBytesMin = 16;
inline constexpr size_t kSecretBytesMax = 1024;

enum class Prover : uint8_t { Dialer = 1, Acceptor = 2 };

// Never zero; zero means a blank store.
uint64_t mark_of(ClusterId cluster);

// `statement`: the prover's hello without its proofs.
std::string proof_of_cluster(ClusterId cluster, Prover by, std::string_view statement);
std::string proof_of_secret(std::string_view secret, Prover by, std::string_view statement);
std::string proof_of_words(std::string_view secret, Prover by, std::string_view words);
// Takes the same time wherever they differ.
bool equal_proofs(std::string_view a, std::string_view b);

// For the frames that `by` sends.
struct SessionKey {
  std::array<uint8_t, 32> frames{};
  uint64_t headers = 0;
};
SessionKey session_key(std::string_view secret, Prover by, uint64_t dialers_nonce, uint64_t acceptors_nonce);

}  // namespace coordkit

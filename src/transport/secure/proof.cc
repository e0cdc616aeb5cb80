#include "transport/secure/proof.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <new>

#include "base/fixed.h"

namespace coordkit {
namespace {

// The purpose of each key, so that a value made for one purpose is valid for no other.
constexpr std::string_view kMark = "coordkit/1 mark of a cluster";
constexpr std::string_view kBelongs = "coordkit/1 belongs to the cluster";
constexpr std::string_view kKnowsSecret = "coordkit/1 knows the secret";
constexpr std::string_view kSaysAll = "coordkit/1 says all of this";
constexpr std::string_view kFrames = "coordkit/1 frames";
constexpr std::string_view kHeaders = "coordkit/1 headers";

using Sum = std::array<uint8_t, kProofBytes>;

Sum hmac(std::string_view key, std::string_view use, Prover by, std::string_view statement) {
  std::string message(use);
  message += '\0';
  message += static_cast<char>(by);
  message += statement;
  Sum sum;
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const uint8_t*>(message.data());
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, message.size(), sum.data(), &size) == nullptr) {
    throw std::bad_alloc();  // it can fail in no other way; ends the connection that asked
  }
  return sum;
}

std::string text(const Sum& sum) { return {reinterpret_cast<const char*>(sum.data()), sum.size()}; }
uint64_t number(const Sum& sum) { return load_u64(reinterpret_cast<const char*>(sum.data())); }

std::array<char, 8> key_of(ClusterId cluster) {
  std::array<char, 8> key{};
  store_u64(key.data(), cluster.value());
  return key;
}

}  // namespace

uint64_t mark_of(ClusterId cluster) {
  const auto key = key_of(cluster);
  const uint64_t mark = number(hmac({key.data(), key.size()}, kMark, Prover::Dialer, {}));
  return mark != 0 ? mark : 1;
}

std::string proof_of_cluster(ClusterId cluster, Prover by, std::string_view statement) {
  const auto key = key_of(cluster);
  return text(hmac({key.data(), key.size()}, kBelongs, by, statement));
}

std::string proof_of_secret(std::string_view secret, Prover by, std::string_view statement) {
  return text(hmac(secret, kKnowsSecret, by, statement));
}

std::string proof_of_words(std::string_view secret, Prover by, std::string_view words) {
  return text(hmac(secret, kSaysAll, by, words));
}

bool equal_proofs(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

SessionKey session_key(std::string_view secret, Prover by, uint64_t dialers_nonce, uint64_t acceptors_nonce) {
  std::array<char, 16> nonces{};
  store_u64(nonces.data(), dialers_nonce);
  store_u64(nonces.data() + 8, acceptors_nonce);
  const std::string_view both(nonces.data(), nonces.size());
  return {hmac(secret, kFrames, by, both), number(hmac(secret, kHeaders, by, both))};
}

}  // namespace coordkit

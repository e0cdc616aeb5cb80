// The first words of the two ends of a connection, and how they are judged. Pure values and functions.
//
//   dialer                                  acceptor
//   Hello{nonce a}                      ->
//                                       <-  Hello{nonce b, echo a, proofs}   shows the dialer that the answer is fresh
//   Hello{nonce a, echo b, proofs}      ->                                   shows the acceptor that the hello was fresh
//   Ping                                ->
//
// Only after the third step does the acceptor believe the hello, so a recorded one displaces no replica (FLT_S03). An end with
// nothing to prove (a blank store, without a secret) may omit the third hello. A hello never holds the cluster's id, only a
// mark of it: members prove that they know the id (proof.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/sums.h"
#include "coordkit/ports/transport.h"
#include "coordkit/transport/tcp_transport.h"
#include "transport/secure/proof.h"

namespace coordkit {

inline constexpr size_t kHelloBytesMax = 2560;
inline constexpr size_t kClusterNameBytesMax = 256;
// The most that a blank store accepts: an invitation, with all the members of a new cluster.
inline constexpr size_t kInvitationBytesMax = 72 << 10;

struct Introduction {
  Hello hello;                        // its `cluster` is not sent
  uint64_t instance = 0;              // random, of the sending transport object
  uint64_t nonce = 0;                 // random, of this end of this connection; never 0
  uint64_t echo = 0;                  // the other end's nonce
  uint64_t mark = 0;                  // of the sender's cluster; zero: the store is blank
  bool secured = false;               // the sender has a secret
  std::string proof_of_cluster = {};  // empty, or kProofBytes; so is the next
  std::string proof_of_secret = {};
  friend bool operator==(const Introduction&, const Introduction&) = default;
};

std::string encode(const Introduction& introduction);
// Without the proofs: they are computed over it.
std::string encode_statement(const Introduction& introduction);
// Adds the proofs of the sender's knowledge: the id of its cluster, if it has one, and the secret, if there is one.
void prove(Introduction& introduction, Prover by, ClusterId cluster, std::string_view secret);
// Ends an encoded hello with a proof of everything that it says. An end with a secret that speaks kProtocolOfWords proves
// every hello except its first like this. So no part of it can be changed on the way, including parts that the statement
// lacks.
inline constexpr uint32_t kProtocolOfWords = 2;
void prove_words(std::string& body, Prover by, std::string_view secret);
bool words_proven(std::string_view body, Prover by, std::string_view secret);
// kDataLoss: malformed or beyond a limit.
absl::StatusOr<Introduction> decode_introduction(std::string_view body);

// The key of all frames of one direction after its hello.
constexpr uint64_t frame_key(uint64_t from_nonce, uint64_t to_nonce) { return hash_mix(hash_mix(1, from_nonce), to_nonce); }

// The fault of this hello for a replica whose own is `mine`; NoReason if there is none. Knows nothing about membership.
CloseReason judge(const Hello& mine, const Introduction& theirs);

// Whether the sender of a hello that answers ours has proved everything that it must. The view is that of a replica of
// `cluster` (zero: it is blank) with this secret (empty: none).
struct Shown {
  CloseReason wrong = CloseReason::NoReason;
  bool belongs = false;  // the sender knows the cluster's id
};
Shown judge_proofs(const Introduction& theirs, Prover by, ClusterId cluster, std::string_view secret);

}  // namespace coordkit

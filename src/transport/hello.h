// What the two ends of a connection say first, and the judgement on it. Pure values and functions.
//
//   dialer                          acceptor
//   Hello{nonce a}              ->
//                               <-  Hello{nonce b, echo a}      proves to the dialer that the answer is fresh
//   Ping, keyed with a and b    ->                              proves to the acceptor that the hello was fresh
//
// Only after the third step does the acceptor believe the hello, so a recorded one displaces nobody (FLT_S3).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/sums.h"
#include "coordkit/transport.h"
#include "coordkit/transport/tcp_transport.h"

namespace coordkit {

inline constexpr size_t kHelloBytesMax = 1024;
inline constexpr size_t kClusterNameBytesMax = 256;

struct Introduction {
  Hello hello;
  uint64_t instance = 0;  // random, of the sending transport object
  uint64_t nonce = 0;     // random, of this end of this connection; never 0
  uint64_t echo = 0;      // the other end's nonce
  friend bool operator==(const Introduction&, const Introduction&) = default;
};

std::string encode(const Introduction& introduction);
// kDataLoss: malformed or beyond a limit.
absl::StatusOr<Introduction> decode_introduction(std::string_view body);

// The key of all frames of one direction after its hello.
constexpr uint64_t frame_key(uint64_t from_nonce, uint64_t to_nonce) { return hash_mix(hash_mix(1, from_nonce), to_nonce); }

// What is wrong with this hello for someone who would say `mine`; None if nothing. Knows nothing of membership.
CloseReason judge(const Hello& mine, const Hello& theirs);

}  // namespace coordkit

// The sums of the frames of one direction, one after the other. Without a secret they are XXH3, seeded. With a secret the sum
// of a frame is a MAC that cannot be made without knowing the secret.
//
//   seeded: seed + number is the seed of a frame, `number` counting its direction's frames from the last change of seed
//   keyed:  GMAC with AES-256, nonce 4 bytes of 0 and the number in 8, over bytes 0..23 of the header and the body; the first 8
//           bytes of the tag. The header's own sum stays XXH3, seeded with a second key + number: it is there to see a flipped
//           length at once, and is covered by the MAC
//
// The MAC keeps out an attacker that can write into the stream but does not know the secret. One attempt to forge a frame of
// n bytes succeeds with at most n/16 in 2^64, and each failure ends the connection and its keys. It does not prevent reading,
// since nothing is encrypted. A member that knows the secret can pose as any other member.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "transport/secure/proof.h"

namespace coordkit {

class FrameSums {
 public:
  explicit FrameSums(uint64_t seed = 0);
  ~FrameSums();
  FrameSums(FrameSums&&) noexcept;
  FrameSums& operator=(FrameSums&&) noexcept;

  // ---- from the next frame on
  void set_seed(uint64_t seed);
  void set_key(const SessionKey& key);
  bool keyed() const { return mac_ != nullptr; }

  uint32_t of_header(const char* header) const;
  uint64_t of_frame(const char* header, std::string_view body);
  bool equal(uint64_t a, uint64_t b) const;  // compares sums of a frame
  void next() { ++number_; }

 private:
  struct Mac;
  uint64_t seed_;
  uint64_t number_ = 0;
  std::unique_ptr<Mac> mac_;  // null: seeded
};

}  // namespace coordkit

// Frames on a byte stream: a fixed header of 32 bytes, little-endian, then the body.
//
//    0  4  magic C0 4B 49 54            16  4  length of the body
//    4  1  version of this header: 1    20  4  low half of XXH3-64 over bytes 0..19, seeded
//    5  1  kind                         24  8  XXH3-64 over the body, seeded with XXH3-64 over bytes 0..23, seeded
//    6  2  flags: 0                     32  .. body
//    8  8  group
//
// The seed is 0 for the first hello of each direction. After that it is key + number: the key is made of both ends' nonces,
// and the number counts frames. So a frame does not verify if it was flipped, recorded on another connection, repeated or
// skipped. This guards against accidents and replays, not against an attacker that can read the stream. Where replicas share
// a secret, the sum at 24 is a MAC from the moment when both ends have shown that they know it (frame_sums.h).
//
// The header has a sum of its own so that a flipped length is detected at once. Pure: no sockets here.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "coordkit/types.h"
#include "transport/frame_sums.h"

namespace coordkit {

inline constexpr size_t kFrameHeaderBytes = 32;
using FrameHeader = std::array<char, kFrameHeaderBytes>;

// On the wire: never reused, never renumbered.
enum class FrameKind : uint8_t {
  Hello = 1,    // names the sender; the first frame of each direction, sent again when the cluster id becomes known
  Message = 2,  // one body of the engine's wire codec; only from the side that dialed
  Ping = 3,     // "are you there": from the side that dialed; the first one confirms the handshake
  Pong = 4,     // the answer
  Goodbye = 5,  // why this end closes: one byte, a CloseReason
};

FrameHeader make_frame_header(FrameKind kind, GroupId group, std::string_view body, FrameSums& sums);  // does not count it
FrameHeader make_frame_header(FrameKind kind, GroupId group, std::string_view body, uint64_t seed);

// The reason why a stream does not consist of frames.
enum class FrameFault : uint8_t { None, Magic, Tls, Version, Kind, HeaderSum, Length, Sum };

// Cuts a stream into frames, however it is fragmented. Its buffer grows with the bytes that have arrived, not with the length
// that a header claims. It never exceeds one frame of the permitted size.
class FrameReader {
 public:
  struct Frame {
    FrameKind kind;
    GroupId group;
    std::string_view body;  // until the next call of space()
  };

  explicit FrameReader(size_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

  // The place for the next bytes; never empty. Then filled() reports how many came.
  std::span<char> space();
  void filled(size_t bytes) { end_ += bytes; }
  // The next whole frame. nullopt: more bytes are needed, or fault() is set and stays set.
  std::optional<Frame> next();
  FrameFault fault() const { return fault_; }

  // ---- from the next frame on
  void set_key(uint64_t key) { sums_.set_seed(key); }
  void set_key(const SessionKey& key) { sums_.set_key(key); }
  void set_body_bytes_max(size_t bytes) { body_bytes_max_ = bytes; }  // a body of which more has arrived is a fault

  size_t capacity() const { return capacity_; }

 private:
  FrameFault judge_header(const char* at) const;
  void grow(size_t capacity);

  size_t body_bytes_max_;
  FrameSums sums_;
  FrameFault fault_ = FrameFault::None;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0;  // begin <= end <= capacity; the unread bytes are between begin and end
  size_t end_ = 0;
};

}  // namespace coordkit

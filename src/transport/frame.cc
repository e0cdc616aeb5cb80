#include "transport/frame.h"

#include <algorithm>
#include <cstring>

#include "base/fixed.h"

namespace coordkit {
namespace {

constexpr char kMagic[4] = {'\xc0', 'K', 'I', 'T'};  // the first byte is no text and no TLS record
constexpr char kVersion = 1;

// The first bytes of a record of TLS that opens or ends a conversation: a handshake or an alert.
bool begins_tls(const char* at, size_t have) { return (at[0] == 0x15 || at[0] == 0x16) && (have < 2 || at[1] == 3); }

constexpr size_t kFirstCapacity = 3 << 10;  // enough for a hello: unknown peers get no more
constexpr size_t kReadCapacity = 64 << 10;  // one read of a busy stream holds many frames
constexpr size_t kIdleCapacity = 4 << 20;   // an empty buffer larger than this is freed

}  // namespace

FrameHeader make_frame_header(FrameKind kind, GroupId group, std::string_view body, uint64_t seed) {
  FrameSums sums(seed);
  return make_frame_header(kind, group, body, sums);
}

FrameHeader make_frame_header(FrameKind kind, GroupId group, std::string_view body, FrameSums& sums) {
  FrameHeader header{};
  char* at = header.data();
  std::memcpy(at, kMagic, sizeof kMagic);
  at[4] = kVersion;
  at[5] = static_cast<char>(kind);
  store_u64(at + 8, group.value());
  store_u32(at + 16, static_cast<uint32_t>(body.size()));
  store_u32(at + 20, sums.of_header(at));
  store_u64(at + 24, sums.of_frame(at, body));
  return header;
}

std::span<char> FrameReader::space() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (capacity_ > kIdleCapacity) capacity_ = 0;
  }
  const size_t wanted = body_bytes_max_ + kFrameHeaderBytes <= kFirstCapacity ? kFirstCapacity : kReadCapacity;
  if (capacity_ < wanted) {
    grow(wanted);
  } else if (capacity_ - end_ < capacity_ / 4 && begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  if (end_ == capacity_) {  // at the limit of a frame, the next byte makes next() refuse the frame
    const size_t allowed = std::min(2 * capacity_, kFrameHeaderBytes + body_bytes_max_);
    grow(std::max(allowed, capacity_ + kFrameHeaderBytes));
  }
  return {buffer_.get() + end_, capacity_ - end_};
}

void FrameReader::grow(size_t capacity) {
  auto buffer = std::make_unique_for_overwrite<char[]>(capacity);
  if (end_ > begin_) std::memcpy(buffer.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  buffer_ = std::move(buffer);
  capacity_ = capacity;
}

FrameFault FrameReader::judge_header(const char* at) const {
  if (at[4] != kVersion) return FrameFault::Version;
  if (load_u32(at + 20) != sums_.of_header(at)) return FrameFault::HeaderSum;
  if (at[5] < static_cast<char>(FrameKind::Hello) || at[5] > static_cast<char>(FrameKind::Goodbye) || at[6] != 0 ||
      at[7] != 0) {
    return FrameFault::Kind;
  }
  if (load_u32(at + 16) > body_bytes_max_) return FrameFault::Length;
  return FrameFault::None;
}

std::optional<FrameReader::Frame> FrameReader::next() {
  if (fault_ != FrameFault::None || begin_ == end_) return std::nullopt;
  const char* at = buffer_.get() + begin_;
  const size_t have = end_ - begin_;
  // The magic is checked as far as it has arrived: a peer that sends one wrong byte and then waits is not a replica.
  if (std::memcmp(at, kMagic, std::min(have, sizeof kMagic)) != 0) {
    fault_ = begins_tls(at, have) ? FrameFault::Tls : FrameFault::Magic;
  }
  if (fault_ == FrameFault::None && have >= kFrameHeaderBytes) fault_ = judge_header(at);
  if (fault_ != FrameFault::None || have < kFrameHeaderBytes) return std::nullopt;
  const size_t length = load_u32(at + 16);
  if (have - kFrameHeaderBytes < length) return std::nullopt;
  const std::string_view body(at + kFrameHeaderBytes, length);
  if (!sums_.equal(load_u64(at + 24), sums_.of_frame(at, body))) {
    fault_ = FrameFault::Sum;
    return std::nullopt;
  }
  begin_ += kFrameHeaderBytes + length;
  sums_.next();
  return Frame{static_cast<FrameKind>(at[5]), GroupId(load_u64(at + 8)), body};
}

}  // namespace coordkit

// Bytes as a stream, cut at places the input chooses, with limits that change on the way. The reader finds the same frames and
// the same fault as when it gets everything between two limits at once, and its memory follows what arrived. The input is a
// script: each step adds noise, another limit or a valid frame, perhaps with a flipped byte, since noise alone never gets past
// the sums.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "transport/frame.h"
#include "transport/hello.h"

namespace {

using namespace coordkit;

constexpr size_t kLimitStep = 300;  // more than 64 KiB as the largest
constexpr size_t kCapacityMax = 128 << 10;

struct Limit {
  size_t at;  // bytes of the stream before it
  size_t body_bytes_max;
};

struct Seen {
  std::vector<std::string> bodies;
  FrameFault fault;
  bool operator==(const Seen&) const = default;
};

// False: a fault.
bool feed(FrameReader& reader, std::string_view stream, size_t piece, std::vector<std::string>& bodies) {
  while (!stream.empty()) {
    const auto space = reader.space();
    const size_t size = std::min({space.size(), stream.size(), piece});
    if (size == 0 || reader.capacity() > kCapacityMax) std::abort();
    std::copy_n(stream.begin(), size, space.begin());
    stream.remove_prefix(size);
    reader.filled(size);
    while (const auto frame = reader.next()) {
      bodies.emplace_back(frame->body);
      if (frame->kind == FrameKind::Hello) (void)decode_introduction(frame->body);
    }
    if (reader.fault() != FrameFault::None) return false;
  }
  return true;
}

Seen read(std::string_view stream, const std::vector<Limit>& limits, size_t piece) {
  FrameReader reader(kLimitStep * 255);
  Seen seen;
  size_t at = 0;
  bool good = true;
  for (const Limit& limit : limits) {
    good = good && feed(reader, stream.substr(at, limit.at - at), piece, seen.bodies);
    at = limit.at;
    reader.set_body_bytes_max(limit.body_bytes_max);
  }
  if (good) feed(reader, stream.substr(at), piece, seen.bodies);
  seen.fault = reader.fault() == FrameFault::Tls ? FrameFault::Magic : reader.fault();  // its first byte alone is a guess
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view script(reinterpret_cast<const char*>(data), size);
  const auto take = [&](size_t n) {
    const std::string_view taken = script.substr(0, n);
    script.remove_prefix(taken.size());
    return taken;
  };
  const auto byte = [&] { return script.empty() ? uint8_t{0} : static_cast<uint8_t>(take(1)[0]); };
  const size_t piece = 1 + byte();
  std::string stream;
  std::vector<Limit> limits;
  uint64_t number = 0;
  while (!script.empty() && stream.size() < (128u << 10)) {
    const uint8_t step = byte();
    if (step % 8 == 1) {  // it may fall in the middle of what follows
      const size_t before = std::min<size_t>(257 * byte(), stream.size() - (limits.empty() ? 0 : limits.back().at));
      limits.push_back({stream.size() - before, kLimitStep * byte()});
      continue;
    }
    std::string body(take(byte()));
    if (step % 8 == 0) {
      stream += body;
      continue;
    }
    if (step % 8 == 2) body.append(257 * byte(), 'x');
    const auto header = make_frame_header(static_cast<FrameKind>(1 + step % 5), GroupId(step % 3), body, number++);
    const size_t start = stream.size();
    stream.append(header.data(), header.size()).append(body);
    if (step >= 192) stream[start + byte() % (stream.size() - start)] ^= static_cast<char>(1 + byte() % 255);
  }
  if (read(stream, limits, piece) != read(stream, limits, stream.size() + 1)) std::abort();
  (void)read(std::string_view(reinterpret_cast<const char*>(data), size), {}, piece);
  (void)decode_introduction({reinterpret_cast<const char*>(data), size});
  return 0;
}

// Bytes as a stream, cut at places the input chooses: the reader finds the same frames and the same fault as when it gets
// everything at once, and its memory follows what arrived. The input is a script: each step adds noise or a valid frame,
// perhaps with a flipped byte, since noise alone never gets past the sums.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "transport/frame.h"
#include "transport/hello.h"

namespace {

using namespace coordkit;

constexpr size_t kBodyMax = 2000;

struct Seen {
  std::vector<std::string> bodies;
  FrameFault fault;
  bool operator==(const Seen&) const = default;
};

Seen read(std::string_view stream, size_t piece) {
  FrameReader reader(kBodyMax);
  Seen seen;
  while (!stream.empty()) {
    const auto space = reader.space();
    const size_t size = std::min({space.size(), stream.size(), piece});
    if (size == 0) std::abort();
    std::copy_n(stream.begin(), size, space.begin());
    stream.remove_prefix(size);
    reader.filled(size);
    while (const auto frame = reader.next()) {
      seen.bodies.emplace_back(frame->body);
      if (frame->kind == FrameKind::Hello) (void)decode_introduction(frame->body);
    }
    if (reader.fault() != FrameFault::None) break;
    if (reader.capacity() > (64u << 10)) std::abort();
  }
  seen.fault = reader.fault();
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
  uint64_t number = 0;
  while (!script.empty() && stream.size() < (32u << 10)) {
    const uint8_t step = byte();
    const std::string_view body = take(byte());
    if (step % 8 == 0) {
      stream += body;
      continue;
    }
    const auto header = make_frame_header(static_cast<FrameKind>(1 + step % 5), GroupId(step % 3), body, number++);
    const size_t start = stream.size();
    stream.append(header.data(), header.size()).append(body);
    if (step >= 192) stream[start + byte() % (stream.size() - start)] ^= static_cast<char>(1 + byte() % 255);
  }
  if (read(stream, piece) != read(stream, stream.size() + 1)) std::abort();
  (void)read(std::string_view(reinterpret_cast<const char*>(data), size), piece);
  (void)decode_introduction({reinterpret_cast<const char*>(data), size});
  return 0;
}

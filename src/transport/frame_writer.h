// Makes a stream of frames, batch by batch: it gathers frames, seals them all, and knows the part that is not written yet. It
// is the counterpart of FrameReader. Its vectors keep their memory: in a steady state nothing is allocated.
//
// Threads: the one that runs the io_context.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "coordkit/ports/transport.h"
#include "transport/frame.h"
#include "transport/tcp/tcp_types.h"

namespace coordkit::tcp {

inline constexpr size_t kBatchFramesMax = 32;         // of one write: two buffers each, as many as one system call takes
inline constexpr size_t kBatchBulkBytes = 256 << 10;  // a liveness message waits for at most these bytes and one frame

class FrameWriter {
 public:
  // Whether nothing is gathered, and no sealed frame is left to write.
  bool empty() const { return frames_.empty(); }

  // ---- gathering, while it is empty() or not sealed yet
  void add(FrameKind kind, Frame frame);
  // Frames that the caller appends here are messages. Only after the last add().
  std::vector<Frame>& messages() { return frames_; }

  // ---- writing
  void seal();             // seals the gathered frames; there must be some
  Buffers unsent() const;  // the sealed bytes that are not written
  // Reports that so many of these bytes are written. True: those were all, and it is empty() again.
  bool sent(size_t bytes);
  // The header of a frame that is written alone and ends the stream.
  FrameHeader make_last(FrameKind kind, std::string_view body) { return make_frame_header(kind, kOnlyGroup, body, sums_); }

  // ---- from the next frame that is sealed on
  void set_key(uint64_t key) { sums_.set_seed(key); }
  void set_key(const SessionKey& key) { sums_.set_key(key); }
  void set_key_after_hello(const SessionKey& key) { next_key_ = key; }  // from the frame after the next hello on

 private:
  FrameSums sums_;
  std::optional<SessionKey> next_key_;
  std::vector<Frame> frames_;
  std::vector<FrameKind> kinds_;             // for frames_; messages have none until they are sealed
  std::vector<FrameHeader> headers_;         // for frames_
  std::vector<asio::const_buffer> buffers_;  // headers and bodies; unsent from buffers_[sent_] on
  size_t sent_ = 0;
};

}  // namespace coordkit::tcp

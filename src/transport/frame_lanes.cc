#include "transport/frame_lanes.h"

#include <algorithm>
#include <utility>

namespace coordkit {

Outbox::Outbox(const TcpOptions& options)
    : control_{options.control_frames_max, options.control_bytes_max, {}},
      bulk_{options.bulk_frames_max, options.bulk_bytes_max, {}},
      offline_frames_max_(options.offline_frames_max) {}

uint64_t Outbox::Queue::push(Frame frame, size_t limit) {
  uint64_t dropped = 0;
  while (!frames.empty() && (frames.size() >= limit || bytes + frame.body.size() > bytes_max)) {
    pop();
    ++dropped;
  }
  const size_t added = frame.body.size();
  frames.push_back(std::move(frame));
  bytes += added;
  return dropped;
}

Frame Outbox::Queue::pop() {
  Frame frame = std::move(frames.front());
  frames.pop_front();
  bytes -= frame.body.size();
  return frame;
}

Outbox::Dropped Outbox::push(Frame frame) {
  Queue& queue = frame.lane == Lane::Control ? control_ : bulk_;
  const size_t limit = online_ ? queue.frames_max : std::min(queue.frames_max, offline_frames_max_);
  const bool control = frame.lane == Lane::Control;
  const uint64_t dropped = queue.push(std::move(frame), limit);
  return control ? Dropped{dropped, 0} : Dropped{0, dropped};
}

void Outbox::take(std::vector<Frame>& batch, size_t frames_max, size_t bulk_bytes_max) {
  while (batch.size() < frames_max && !control_.frames.empty()) batch.push_back(control_.pop());
  for (size_t bytes = 0; batch.size() < frames_max && bytes < bulk_bytes_max && !bulk_.frames.empty();) {
    bytes += batch.emplace_back(bulk_.pop()).body.size();
  }
}

Outbox::Dropped Outbox::clear() {
  const Dropped dropped{control_.frames.size(), bulk_.frames.size()};
  for (Queue* queue : {&control_, &bulk_}) {
    queue->frames.clear();
    queue->bytes = 0;
  }
  return dropped;
}

}  // namespace coordkit

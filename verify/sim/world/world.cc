#include "sim/world/world.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/record/recorder.h"

namespace coordkit::sim {
namespace {

struct Later {
  bool operator()(const Event& a, const Event& b) const { return a.at != b.at ? a.at > b.at : a.sequence > b.sequence; }
};

}  // namespace

std::string render(const TraceRecord& record) {
  const auto& v = record.values;
  std::string text = fmt::format(fmt::runtime(record.format), v[0], v[1], v[2], v[3]);
  const double since_start = std::chrono::duration<double>(record.at.time_since_epoch()).count();
  if (record.node == kNoNode) return fmt::format("{:12.6f}  --  {}", since_start, text);
  return fmt::format("{:12.6f}  n{}  {}", since_start, record.node + 1, text);
}

void World::schedule(TrueTime at, EventKind kind, uint32_t node, uint32_t epoch, uint64_t item) {
  heap_.push_back({std::max(at, now_), scheduled_++, kind, node, epoch, item});
  std::push_heap(heap_.begin(), heap_.end(), Later{});
}

Event World::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), Later{});
  const Event event = heap_.back();
  heap_.pop_back();
  now_ = event.at;
  node_ = event.node;
  ++popped_;
  mix(static_cast<uint64_t>(event.at.time_since_epoch().count()));
  mix(static_cast<uint64_t>(event.kind) | uint64_t{event.node} << 8 | uint64_t{event.epoch} << 32);
  mix(event.item);
  return event;
}

void World::tell(const TraceRecord& record) {
  if (recorder_) recorder_->notes().traced(record);
  if (listener_) listener_(render(record));
}

std::vector<std::string> World::last_events() const {
  std::vector<std::string> out;
  const uint64_t count = std::min<uint64_t>(traced_, ring_.size());
  for (uint64_t i = traced_ - count; i < traced_; ++i) out.push_back(render(ring_[i % ring_.size()]));
  return out;
}

}  // namespace coordkit::sim

#include "transport/tcp/tcp_tally.h"

namespace coordkit::tcp {
namespace {

uint64_t get(const std::atomic<uint64_t>& counter) { return counter.load(std::memory_order_relaxed); }

}  // namespace

void Tally::sent(size_t frames, uint64_t bytes) {
  add(frames_sent_, frames);
  add(bytes_sent_, bytes);
}

void Tally::received(size_t bytes) {
  add(frames_received_);
  add(bytes_received_, bytes);
}

void Tally::dropped(const Outbox::Dropped& dropped) {
  if (dropped.control > 0) add(control_dropped_, dropped.control);
  if (dropped.bulk > 0) add(bulk_dropped_, dropped.bulk);
}

TcpCounters Tally::read() const {
  TcpCounters all;
  all.opened = get(opened_);
  for (size_t i = 0; i < all.closed.size(); ++i) all.closed[i] = get(closed_[i]);
  all.frames_sent = get(frames_sent_);
  all.bytes_sent = get(bytes_sent_);
  all.frames_received = get(frames_received_);
  all.bytes_received = get(bytes_received_);
  all.control_dropped = get(control_dropped_);
  all.bulk_dropped = get(bulk_dropped_);
  all.other_group = get(other_group_);
  return all;
}

}  // namespace coordkit::tcp

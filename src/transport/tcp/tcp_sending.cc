// Outgoing frames: from any thread into the outbox of a link, and from there onto its connection.
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <new>
#include <utility>

#include "transport/tcp/tcp_network.h"

namespace coordkit::tcp {

void Network::push(ReplicaId to, std::vector<Frame> frames) {
  std::shared_ptr<Link> link;
  if (open_.load(std::memory_order_acquire)) link = links_.find_for_sending(to);
  Outbox::Dropped dropped;
  bool wake = false;
  bool oversize = false;
  std::unique_lock<std::mutex> lock;
  if (link) lock = std::unique_lock(link->mutex);
  for (Frame& frame : frames) {
    const bool too_large = frame.body.size() > options_.frame_bytes_max;
    oversize |= too_large;
    if (!link || too_large) {
      ++(frame.lane == Lane::Control ? dropped.control : dropped.bulk);
      continue;
    }
    const Lane lane = frame.lane;
    try {
      const Outbox::Dropped pushed_out = link->outbox.push(std::move(frame));
      dropped.control += pushed_out.control;
      dropped.bulk += pushed_out.bulk;
      wake = true;
    } catch (const std::bad_alloc&) {
      ++(lane == Lane::Control ? dropped.control : dropped.bulk);
    }
  }
  wake = wake && !std::exchange(link->pump_scheduled, true);
  if (lock) lock.unlock();
  tally_.dropped(dropped);
  if (oversize && link && handover_.put_oversize()) {
    asio::post(io_, [self = shared_from_this(), to] {
      self->handover_.take_oversize();
      if (!self->closed_) self->report({TcpEvent::Kind::OversizeFrame, Side::Dialed, to, CloseReason::Oversize, {}});
    });
  }
  if (!wake) return;
  try {
    asio::dispatch(io_, [self = shared_from_this(), link] { link->pump(); });
  } catch (...) {
    const std::lock_guard again(link->mutex);
    link->pump_scheduled = false;  // the next frames wake it
    throw;
  }
}

void Network::take_frames(Connection& connection, std::vector<Frame>& batch) {
  const std::shared_ptr<Link> known = links_.find(connection.peer());
  if (!known || known->outlet() != &connection) return;
  Link& link = *known;
  const size_t before = batch.size();
  {
    const std::lock_guard lock(link.mutex);
    link.outbox.take(batch, kBatchFramesMax, kBatchBulkBytes);
  }
  uint64_t bytes = 0;
  for (size_t i = before; i < batch.size(); ++i) bytes += batch[i].body.size();
  tally_.sent(batch.size() - before, bytes);
}

}  // namespace coordkit::tcp

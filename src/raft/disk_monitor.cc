#include "raft/disk_monitor.h"

#include <algorithm>

namespace coordkit::raft {

Duration DiskMonitor::lag_max() const {
  return options_.disk_lag_max == Duration::zero() ? options_.election_timeout : options_.disk_lag_max;
}

void DiskMonitor::look(Index last, Index durable, const Peers& peers, LaggingTime now) {
  if (off()) return;
  if (lag_ && durable >= lag_->upto) lag_.reset();
  if (!lag_) {
    if (durable >= last) return;
    lag_ = Lag{.upto = last, .since = now, .asked = last, .asked_at = now};
    for (const Progress& peer : peers) lag_->prompt.push_back(peer.peer);
    return;
  }
  if (now - lag_->asked_at < options_.election_timeout / 2) return;
  std::erase_if(lag_->prompt, [&](ReplicaId id) {
    const Progress* peer = peers.find(id);
    return !peer || peer->match < lag_->asked;
  });
  lag_->asked = last;
  lag_->asked_at = now;
}

bool DiskMonitor::stalls(LaggingTime now) const { return lag_ && now - lag_->since >= lag_max(); }

bool DiskMonitor::prompt(ReplicaId id) const {
  return std::find(lag_->prompt.begin(), lag_->prompt.end(), id) != lag_->prompt.end();
}

void DiskMonitor::handing_over(LaggingTime until) {
  lag_->since = until;
  lag_->tried = true;
}

}  // namespace coordkit::raft

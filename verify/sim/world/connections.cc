#include "sim/world/connections.h"

#include <utility>

namespace coordkit::sim {

using std::chrono::milliseconds;

void Connections::deliver(const Event& event) {
  std::unique_ptr<Parcel> parcel = network_.arrive(event.item);
  if (!parcel) return;
  Node& to = *nodes_[parcel->to];
  to.receive(std::move(parcel));
}

// Both processes must run, and both directions must pass, or it is retried later.
void Connections::connect(uint32_t a, uint32_t b) {
  if (network_.connected(a, b) && network_.connected(b, a)) return;
  Node& left = *nodes_[a];
  Node& right = *nodes_[b];
  if (!left.up() || !right.up()) return;  // the restart will try
  if (!network_.passes(a, b) || !network_.passes(b, a)) {
    return world_.schedule(world_.now() + milliseconds(20) + Duration(random_.below(50'000'000)), EventKind::Connect, a, 0, b);
  }
  network_.connect(a, b);
  world_.trace(a, "is connected with n{}", b + 1);
  left.post(PeerConnected{right.hello_to(left)});
  right.post(PeerConnected{left.hello_to(right)});
}

void Connections::disconnect(uint32_t node, uint32_t peer) {
  if (!network_.connected(node, peer)) return;
  network_.disconnect(node, peer);
  world_.trace(node, "has lost n{}", peer + 1);
  nodes_[node]->post(PeerLost{nodes_[peer]->id()});
  world_.schedule(world_.now() + Duration(random_.below(20'000'000)), EventKind::Connect, node, 0, peer);
}

void Connections::disconnect_all() {
  for (uint32_t a = 0; a < nodes_.size(); ++a) {
    for (uint32_t b = a + 1; b < nodes_.size(); ++b) {
      disconnect(a, b);
      disconnect(b, a);
    }
  }
}

void Connections::process_started(uint32_t node) {
  for (uint32_t peer = 0; peer < nodes_.size(); ++peer) {
    if (peer == node) continue;
    world_.schedule(world_.now() + Duration(random_.below(20'000'000)), EventKind::Connect, node, 0, peer);
  }
}

void Connections::process_stopped(uint32_t node) {
  for (uint32_t peer = 0; peer < nodes_.size(); ++peer) {
    if (peer == node) continue;
    network_.disconnect(node, peer);
    // The peer notices soon, late, or only when the process is back.
    const Duration notice = Duration(random_.below(random_.chance(0.5) ? 5'000'000 : 2'000'000'000));
    world_.schedule(world_.now() + notice, EventKind::Disconnect, peer, 0, node);
  }
}

void Connections::tell_cluster(uint32_t node) {
  for (uint32_t peer = 0; peer < nodes_.size(); ++peer) {
    if (peer == node || !network_.connected(peer, node) || !nodes_[peer]->up()) continue;
    nodes_[peer]->post(PeerConnected{nodes_[node]->hello_to(*nodes_[peer])});
  }
}

}  // namespace coordkit::sim

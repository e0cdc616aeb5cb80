#include "sim/world/network.h"

#include <algorithm>
#include <utility>

#include "sim/record/recorder.h"

namespace coordkit::sim {

Network::Network(World& world, uint32_t nodes, Random random)
    : world_(world), nodes_(nodes), random_(random), links_(size_t{nodes} * nodes), void_up_to_(nodes), previous_life_(nodes) {}

void Network::connect(uint32_t a, uint32_t b) {
  const uint64_t number = ++connections_;
  link(a, b).connection = number;
  link(b, a).connection = number;
}

void Network::send(uint32_t from, uint32_t to, Message message) {
  ++counters_.sent;
  Link& wire = link(from, to);
  Recorder* const recorder = world_.recorder();
  const uint64_t recorded = recorder ? recorder->messages().sent(from, to, message) : 0;
  if (wire.connection == 0 || wire.cuts != 0 || quality_.lost_kind == message.index() || lucky(quality_.drop_per_million)) {
    ++counters_.dropped;
    if (recorder) recorder->messages().lost(recorded);
    return;
  }
  if (lucky(quality_.duplicate_per_million)) {
    ++counters_.duplicated;
    launch(std::make_unique<Parcel>(Parcel{from, to, wire.connection, recorded, message}));
  }
  launch(std::make_unique<Parcel>(Parcel{from, to, wire.connection, recorded, std::move(message)}));
}

void Network::launch(std::unique_ptr<Parcel> parcel) {
  Link& wire = link(parcel->from, parcel->to);
  if (wire.clogs != 0 || wire.kinds_held[parcel->message.index()] != 0) {
    ++counters_.held;
    wire.held.push_back(std::move(parcel));
    return;
  }
  Duration delay(random_.between(quality_.delay_min.count(), quality_.delay_max.count()));
  if (lucky(quality_.tail_per_million)) {
    ++counters_.delayed;
    delay += Duration(random_.below(quality_.tail.count()));
  }
  TrueTime arrival = world_.now() + delay;
  if (lucky(quality_.reorder_per_million)) {
    ++counters_.reordered;
  } else if (delay <= quality_.delay_max) {
    arrival = std::max(arrival, wire.last_arrival);
    wire.last_arrival = arrival;
  }
  uint64_t slot = slots_.size();
  if (free_slots_.empty()) {
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  const uint32_t to = parcel->to;
  slots_[slot] = std::move(parcel);
  world_.schedule(arrival, EventKind::Deliver, to, 0, slot);
}

void Network::unclog(uint32_t from, uint32_t to) {
  Link& wire = link(from, to);
  if (--wire.clogs == 0) launch_held(wire);
}

void Network::hold_kind(uint32_t from, uint32_t to, size_t kind) { ++link(from, to).kinds_held[kind]; }

void Network::release_kind(uint32_t from, uint32_t to, size_t kind) {
  Link& wire = link(from, to);
  if (--wire.kinds_held[kind] == 0) launch_held(wire);
}

void Network::send_again(std::unique_ptr<Parcel> parcel) {
  --counters_.delivered;
  if (passes(parcel->from, parcel->to)) return launch(std::move(parcel));
  ++counters_.dropped;
  if (Recorder* recorder = world_.recorder()) recorder->messages().lost(parcel->recorded);
}

// A parcel that must still be held for another reason goes back to its place.
void Network::launch_held(Link& wire) {
  std::vector<std::unique_ptr<Parcel>> held = std::move(wire.held);
  wire.held.clear();
  for (std::unique_ptr<Parcel>& parcel : held) launch(std::move(parcel));
}

std::unique_ptr<Parcel> Network::arrive(uint64_t slot) {
  std::unique_ptr<Parcel> parcel = std::move(slots_[slot]);
  free_slots_.push_back(slot);
  const uint64_t connection = link(parcel->to, parcel->from).connection;
  const bool forgotten = parcel->connection <= void_up_to_[parcel->from] || parcel->connection <= previous_life_[parcel->to] ||
                         (parcel->connection <= previous_life_[parcel->from] && previous_life_[parcel->from] < connection);
  if (connection == 0 || forgotten || (connection != parcel->connection && !stale_delivery_)) {
    ++counters_.dropped;
    if (Recorder* recorder = world_.recorder()) recorder->messages().lost(parcel->recorded);
    return nullptr;
  }
  if (connection != parcel->connection) ++counters_.stale;
  ++counters_.delivered;
  return parcel;
}

}  // namespace coordkit::sim

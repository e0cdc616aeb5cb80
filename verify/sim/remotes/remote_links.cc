#include "sim/remotes/remote_links.h"

#include <algorithm>
#include <utility>

namespace coordkit::sim {

void RemoteLinks::dial(uint32_t remote, ReplicaId id, uint32_t gateway) {
  hang_up(remote);
  current_[remote] = wires_.size();
  wires_.push_back({.remote = remote, .id = id, .gateway = gateway, .held = {}});
  if (cut_[remote] != 0) {
    wires_.back().broken = true;
    return;
  }
  launch({.wire = current_[remote], .to_gateway = true, .what = What::Dial, .frame = {}});
}

// The gateway learns of it after the last frame; later, if a machine has died.
void RemoteLinks::hang_up(uint32_t remote) {
  const uint64_t number = std::exchange(current_[remote], kNone);
  if (number == kNone) return;
  wires_[number].here = false;
  Parcel down{.wire = number, .to_gateway = true, .what = What::Down, .frame = {}};
  wires_[number].broken ? launch_after(std::move(down), within(kNoticedWithin)) : launch(std::move(down));
}

void RemoteLinks::send(uint32_t remote, Frame frame) {
  if (current_[remote] == kNone) return;
  launch({.wire = current_[remote], .to_gateway = true, .what = What::Frame, .frame = std::move(frame)});
}

void RemoteLinks::send(uint32_t gateway, ReplicaId to, Frame frame) {
  const uint64_t lost = network_.quality().drop_per_million;
  if (lost != 0 && random_.below(1'000'000) < lost) return;
  for (uint64_t number = wires_.size(); number-- > 0;) {
    const Wire& wire = wires_[number];
    if (!wire.there || wire.gateway != gateway || wire.id != to) continue;
    return launch({.wire = number, .to_gateway = false, .what = What::Frame, .frame = std::move(frame)});
  }
}

void RemoteLinks::gateway_died(uint32_t gateway) {
  for (uint64_t number = 0; number < wires_.size(); ++number) {
    Wire& wire = wires_[number];
    if (wire.gateway != gateway || !std::exchange(wire.there, false) || !wire.here) continue;
    const bool silent = random_.chance(0.2);  // the machine went with it
    launch_after({.wire = number, .to_gateway = false, .what = What::Down, .frame = {}},
                 within(silent ? kNoticedWithin : Duration(std::chrono::milliseconds(20))));
  }
}

void RemoteLinks::break_off(uint32_t remote) {
  const uint64_t number = current_[remote];
  if (number == kNone || std::exchange(wires_[number].broken, true)) return;
  launch_after({.wire = number, .to_gateway = false, .what = What::Down, .frame = {}}, within(kNoticedWithin));
  launch_after({.wire = number, .to_gateway = true, .what = What::Down, .frame = {}}, within(2 * kNoticedWithin));
}

void RemoteLinks::cut(uint32_t remote) {
  ++cut_[remote];
  break_off(remote);
}

// Often the remote gives it up before it moves again.
uint64_t RemoteLinks::stall(uint32_t remote) {
  const uint64_t number = current_[remote];
  if (number == kNone) return 0;
  ++wires_[number].stalls;
  if (random_.chance(0.7)) {
    launch_after({.wire = number, .to_gateway = false, .what = What::Down, .frame = {}}, within(kNoticedWithin));
  }
  return number + 1;
}

void RemoteLinks::resume(uint64_t number) {
  Wire& wire = wires_[number - 1];
  if (wire.stalls == 0 || --wire.stalls != 0) return;
  for (Parcel& parcel : std::exchange(wire.held, {})) launch(std::move(parcel));
}

void RemoteLinks::heal() {
  std::ranges::fill(cut_, 0);
  for (uint64_t number = 1; number <= wires_.size(); ++number) {
    wires_[number - 1].stalls = std::min(wires_[number - 1].stalls, 1);
    resume(number);
  }
}

void RemoteLinks::launch(Parcel parcel) {
  Wire& wire = wires_[parcel.wire];
  if (wire.broken) return;
  if (wire.stalls != 0) return wire.held.push_back(std::move(parcel));
  const LinkQuality& quality = network_.quality();
  TrueTime at = world_.now() + Duration(random_.between(static_cast<uint64_t>(quality.delay_min.count()),
                                                        static_cast<uint64_t>(quality.delay_max.count())));
  std::array<TrueTime, 2>& last = wire.last[parcel.to_gateway ? 1 : 0];
  TrueTime& own = last[parcel.frame.lane == Lane::Control ? 1 : 0];
  at = std::max(at, own);
  if (parcel.what != What::Frame) at = std::max({at, last[0], last[1]});
  own = at;
  launch_after(std::move(parcel), at - world_.now());
}

void RemoteLinks::launch_after(Parcel parcel, Duration delay) {
  uint64_t slot = slots_.size();
  if (free_slots_.empty()) {
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  const uint32_t remote = wires_[parcel.wire].remote;
  slots_[slot] = std::move(parcel);
  world_.schedule(world_.now() + delay, EventKind::Link, static_cast<uint32_t>(nodes_.size()) + remote, 0, slot);
}

void RemoteLinks::arrive(const Event& event) {
  Parcel parcel = std::move(slots_[event.item]);
  free_slots_.push_back(event.item);
  Wire& wire = wires_[parcel.wire];
  parcel.to_gateway ? arrive_at_gateway(wire, parcel.wire, parcel) : arrive_at_remote(wire, parcel.wire, parcel);
}

void RemoteLinks::arrive_at_gateway(Wire& wire, uint64_t number, Parcel& parcel) {
  Node& gateway = *nodes_[wire.gateway];
  if (parcel.what == What::Dial) {
    if (!gateway.up()) return launch({.wire = number, .to_gateway = false, .what = What::Down, .frame = {}});
    for (Wire& other : wires_) {
      if (other.gateway == wire.gateway && other.id == wire.id) other.there = false;  // nothing arrives on it any more
    }
    wire.there = true;
    wire.gateway_epoch = gateway.epoch();
    gateway.hear({wire.id, LinkMail::Kind::Up, {}});
    return launch({.wire = number, .to_gateway = false, .what = What::Up, .frame = {}});
  }
  if (!wire.there || wire.gateway_epoch != gateway.epoch()) return;
  if (parcel.what == What::Frame && !wire.here) watcher_.reached(Situation::GatewayOutlived);
  wire.there = parcel.what != What::Down;
  const auto kind = wire.there ? LinkMail::Kind::Frame : LinkMail::Kind::Down;
  gateway.hear({wire.id, kind, std::move(parcel.frame.body)});
}

void RemoteLinks::arrive_at_remote(Wire& wire, uint64_t number, Parcel& parcel) {
  if (current_[wire.remote] != number) return;
  LinkMail mail{wire.id, LinkMail::Kind::Frame, std::move(parcel.frame.body)};
  if (parcel.what == What::Up) mail.kind = LinkMail::Kind::Up;
  if (parcel.what == What::Down) {
    mail.kind = LinkMail::Kind::Down;
    hang_up(wire.remote);
  }
  ends_[wire.remote]->hear(std::move(mail));
}

}  // namespace coordkit::sim

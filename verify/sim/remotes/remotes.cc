#include "sim/remotes/remotes.h"

#include <algorithm>

#include "sim/plan_parts.h"
#include "sim/world/draw.h"

namespace coordkit::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

Remotes::Remotes(const NodeParts& parts, std::vector<std::unique_ptr<Node>>& nodes, Observers& observers, Random random)
    : parts_(parts),
      observers_(observers),
      random_(random),
      links_(parts.world, parts.network, parts.watcher, nodes, parts.plan.remotes.count, random_.fork()) {
  for (uint32_t i = 0; i < parts.plan.remotes.count; ++i) {
    remotes_.push_back(std::make_unique<RemoteNode>(parts_, links_, first() + i, random_.fork()));
    observers.callers.push_back(remotes_.back().get());
  }
}

void Remotes::start(Workload& workload) {
  workload_ = &workload;
  for (uint32_t i = 0; i < remotes_.size(); ++i) restart(first() + i);
  later(draw(random_, Duration::zero(), 2 * parts_.plan.remotes.interval), first(), RemoteAct::Strike);
}

void Remotes::event(const Event& event) {
  if (event.kind == EventKind::Link) return links_.arrive(event);
  RemoteNode& remote = at(event.node);
  if (event.kind == EventKind::Timer) return remote.timer_event(event);
  if (event.kind == EventKind::Turn) {
    if (remote.turn_event(event)) observers_.looked(remote, event.node);
    return;
  }
  switch (act_of(event.item)) {
    case RemoteAct::Strike: return strike();
    case RemoteAct::Restart: return restart(event.node);
    case RemoteAct::Resume: return event.epoch == remote.epoch() ? resume(event.node) : void();
    case RemoteAct::Redial: return event.epoch == remote.epoch() ? remote.redial() : void();
    case RemoteAct::LinkResumes: return links_.resume(detail_of(event.item));
    case RemoteAct::Mend: return links_.mend(event.node - first());
  }
}

void Remotes::gateway_died(uint32_t gateway) {
  for (uint32_t i = 0; i < remotes_.size(); ++i) {
    if (links_.leads_to(i, gateway) && remotes_[i]->calls() != 0) parts_.watcher.reached(Situation::GatewayLostInCalls);
  }
  links_.gateway_died(gateway);
}

void Remotes::told(uint32_t gateway, std::vector<std::pair<ReplicaId, Frame>> frames) {
  for (auto& [to, frame] : frames) links_.send(gateway, to, std::move(frame));
}

void Remotes::later(Duration after, uint32_t number, RemoteAct act, uint64_t detail) {
  parts_.world.schedule(parts_.world.now() + after, EventKind::Remote, number, at(number).epoch(), number_of(act, detail));
}

void Remotes::strike() {
  if (calm_) return;
  const RemotePlan& plan = parts_.plan.remotes;
  later(draw(random_, Duration::zero(), 2 * plan.interval), first(), RemoteAct::Strike);
  const uint32_t number = first() + static_cast<uint32_t>(random_.below(remotes_.size()));
  RemoteNode& remote = at(number);
  const Duration length = draw_wide(random_, milliseconds(1), plan.longest);
  const uint64_t kind = random_.below(8);
  parts_.world.trace(number, "remote fault {} for {} us", kind, static_cast<uint64_t>(length.count()) / 1000);
  if (!remote.up()) return;
  switch (kind) {
    case 0: crash(remote, number); return later(std::min<Duration>(length, seconds(5)), number, RemoteAct::Restart);
    case 1:
    case 2:
      if (remote.frozen()) return;
      remote.freeze(kind == 2);
      return later(length, number, RemoteAct::Resume);
    case 3: return remote.clock().set_rate(parts_.world.now(), static_cast<int64_t>(random_.below(20'001)) - 10'000);
    case 4: links_.cut(number - first()); return later(length, number, RemoteAct::Mend);
    case 5:
    case 6:
      if (const uint64_t stalled = links_.stall(number - first()); stalled != 0) {
        later(length, number, RemoteAct::LinkResumes, stalled);
      }
      return;
    default: return links_.break_off(number - first());
  }
}

void Remotes::crash(RemoteNode& remote, uint32_t number) {
  remote.clock().wake(parts_.world.now());
  remote.crash();
  workload_->process_died(number);
}

void Remotes::restart(uint32_t number) {
  if (at(number).up()) return;
  at(number).start();
  workload_->process_started(number);
}

void Remotes::resume(uint32_t number) {
  const bool was_frozen = at(number).frozen();
  at(number).resume();
  if (was_frozen) workload_->process_resumed(number);
}

void Remotes::calm() {
  calm_ = true;
  links_.heal();
  for (uint32_t i = 0; i < remotes_.size(); ++i) {
    restart(first() + i);
    resume(first() + i);
  }
}

void Remotes::retire() {
  for (auto& remote : remotes_) remote->retire();
}

}  // namespace coordkit::sim

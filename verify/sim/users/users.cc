#include "sim/users/users.h"

#include <algorithm>
#include <utility>

#include "sim/keys/watchers.h"
#include "sim/objects/streams.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {

Users::Users(World& world, const Plan& plan, const SimOptions& options, std::vector<std::unique_ptr<Node>>& nodes,
             Observers& observers, Random for_programs)
    : programs_(world, options, nodes, for_programs),
      workload_(world, plan, options.defects, observers.callers, observers.locks, observers.leases, observers.witness,
                observers.counts, world.fork_random()) {
  if (plan.work.watchers != 0) {
    roamers_[EventKind::Watcher] =
        std::make_unique<Watchers>(world, plan, observers.callers, observers.model, observers.counts, world.fork_random());
  }
  if (plan.work.observers != 0) {
    roamers_[EventKind::Stream] =
        std::make_unique<Streams>(world, plan, observers.callers, observers.model, observers.counts, world.fork_random());
  }
}

void Users::start() {
  if (remotes_) remotes_->start(workload_);
  for (const auto& [event, roamers] : roamers_) roamers->start();
}

void Users::add(std::unique_ptr<Remotes> remotes) { remotes_ = std::move(remotes); }

void Users::process_started(uint32_t node) {
  workload_.process_started(node);
  programs_.process_started(node);
}

void Users::process_died(uint32_t node) {
  workload_.process_died(node);
  programs_.process_died(node);
  if (remotes_) remotes_->gateway_died(node);
}

void Users::told(uint32_t gateway, std::vector<std::pair<ReplicaId, Frame>> frames) {
  if (remotes_) remotes_->told(gateway, std::move(frames));
}

void Users::calm_remotes() {
  if (remotes_) remotes_->calm();
}

void Users::retire() {
  if (remotes_) remotes_->retire();
  programs_.retire();
}

void Users::process_resumed(uint32_t node) {
  workload_.process_resumed(node);
  programs_.process_resumed(node);
}

void Users::event(const Event& event) {
  if (event.kind == EventKind::Worker) return workload_.worker_event(event);
  if (event.kind == EventKind::Resource) return workload_.resource_event(event);
  if (event.kind == EventKind::Program) return programs_.event(event);
  const auto roamers = roamers_.find(event.kind);
  roamers != roamers_.end() ? roamers->second->event(event) : remotes_->event(event);
}

void Users::wind_down() {
  workload_.wind_down();
  for (const auto& [event, roamers] : roamers_) roamers->wind_down();
  programs_.calm();
}

bool Users::done() const { return workload_.idle() && programs_.done() && all_caught_up(); }

bool Users::all_caught_up() const {
  return std::ranges::all_of(roamers_, [](const auto& each) { return each.second->all_caught_up(); });
}

void Users::demand_all_caught_up() const {
  for (const auto& [event, roamers] : roamers_) {
    if (!roamers->all_caught_up()) throw Violation("INV_W02", roamers->missing());
  }
}

void Users::look_away() {
  for (const auto& [event, roamers] : roamers_) roamers->look_away();
}

}  // namespace coordkit::sim

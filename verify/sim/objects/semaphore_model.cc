#include "sim/objects/semaphore_model.h"

#include <utility>

namespace coordkit::sim {

using coordination::Kind;
using machine::Result;
using machine::ResultCode;

uint64_t SemaphoreModel::taken(const std::string& name) const {
  uint64_t sum = 0;
  for (const WaitsAndHolds::Hold& hold : lines_.holds()) {
    if (hold.of == Kind::Semaphore && hold.name == name) sum += hold.count;
  }
  return sum;
}

bool SemaphoreModel::fits(const std::string& name, uint64_t count) const {
  const uint64_t limit = limits_.at(name), held = taken(name);
  return held <= limit && count <= limit - held;
}

Result SemaphoreModel::run(const machine::SetSemaphoreLimit& set) {
  entry_.touch(Kind::Semaphore, set.name);
  limits_[set.name] = set.limit;
  return {};
}

Result SemaphoreModel::run(const machine::AcquirePermits& acquire) {
  if (!limits_.contains(acquire.name)) {
    if (!acquire.initial_limit) return {.code = ResultCode::NotFound};
    const bool tries = acquire.wait.kind == machine::Wait::Kind::None;
    if (tries && acquire.count > *acquire.initial_limit) return {.code = ResultCode::Held};
    limits_[acquire.name] = *acquire.initial_limit;
  }
  WaitsAndHolds::Wait wait = lines_.wait_at(Kind::Semaphore, acquire.name, acquire.session);
  wait.count = acquire.count;
  const bool free = lines_.waiting(Kind::Semaphore, acquire.name) == 0 && fits(acquire.name, acquire.count);
  return free ? lines_.grant(wait).granted() : lines_.join_line(std::move(wait), acquire.wait);
}

Result SemaphoreModel::run(const machine::DeleteSemaphore& erase) {
  if (!limits_.contains(erase.name)) return {.code = ResultCode::NotFound};
  if (taken(erase.name) + lines_.waiting(Kind::Semaphore, erase.name) != 0) return {.code = ResultCode::Held};
  entry_.touch(Kind::Semaphore, erase.name);
  limits_.erase(erase.name);
  return {};
}

void SemaphoreModel::serve() {
  lines_.serve(
      Kind::Semaphore, [this](const WaitsAndHolds::Wait& wait) { return fits(wait.name, wait.count); },
      [this](const WaitsAndHolds::Wait& wait) { return lines_.grant(wait).granted(); });
}

void SemaphoreModel::show(const std::string& name, machine::ObjectView& view) const {
  if (!limits_.contains(name)) return;
  view.exists = true;
  view.limit = limits_.at(name);
  view.taken = taken(name);
  for (const WaitsAndHolds::Hold& hold : lines_.holds()) {
    if (hold.of != Kind::Semaphore || hold.name != name) continue;
    view.rows.push_back({.id = hold.since, .token = hold.token, .session = hold.session, .count = hold.count});
  }
}

}  // namespace coordkit::sim

#include "sim/users/worker_calls.h"

#include <fmt/format.h>

#include "machine/reads.h"
#include "sim/world/draw.h"

namespace coordkit::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

void WorkerCalls::schedule(Worker& worker, Duration longest) {
  const Duration after(worker.random.below(longest.count() + 1));
  world_.schedule(world_.now() + after, EventKind::Worker, worker.node, nodes_[worker.node]->epoch(),
                  ++worker.step << 16 | worker.number);
}

CallDeadline WorkerCalls::deadline(Worker& worker) const {
  if (worker.random.chance(0.7)) return std::nullopt;
  return clock(worker).lagging + draw(worker.random, milliseconds(1), seconds(3));
}

LockWait WorkerCalls::wait(Worker& worker) const {
  if (worker.random.chance(0.2)) return LockWait::none();
  return LockWait::timed(draw(worker.random, milliseconds(1), seconds(3)));
}

std::string WorkerCalls::label(Worker& worker) const { return fmt::format("w{}-{}", worker.number, ++worker.labels); }

std::string WorkerCalls::lock_name(Worker& worker) const { return fmt::format("lock-{}", worker.random.below(work_.locks)); }

std::optional<Generation> WorkerCalls::generation(const Worker& worker, SessionId session) const {
  if (!engine(worker).state_is_here()) return std::nullopt;
  const auto info = engine(worker).machine(kCoordination)->reads()->session(session);
  return info ? std::optional(info->generation) : std::nullopt;
}

}  // namespace coordkit::sim

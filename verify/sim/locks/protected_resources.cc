#include "sim/locks/protected_resources.h"

#include <algorithm>

#include "sim/world/draw.h"

namespace coordkit::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

void ProtectedResources::write(Worker& worker) {
  const bool slow = worker.random.chance(work_.session_change_share > 0 ? 0.25 : 0.05);
  const Duration delay = draw(worker.random, Duration::zero(), slow ? Duration(seconds(5)) : milliseconds(5));
  const HoldState& hold = *worker.holds.back();
  writes_.push_back({.lock = hold.name(),
                     .token = hold.token(),
                     .mode = hold.terms().mode,
                     .node = worker.node,
                     .epoch = calls_.epoch(worker.node),
                     .session = hold.session()->id(),
                     .held = locks_.held_since(hold),
                     .unsent = worker.random.chance(0.5)});
  world_.schedule(world_.now() + delay, EventKind::Resource, worker.node, 0, writes_.size() - 1);
}

// A paused thread's pending write leaves when its process resumes, however long that takes.
void ProtectedResources::event(const Event& event) {
  const Write& write = writes_[event.item];
  const Caller& writer = *nodes_[write.node];
  if (write.unsent && writer.epoch() != write.epoch) return;
  if (write.unsent && writer.frozen()) {
    return world_.schedule(world_.now() + milliseconds(20), EventKind::Resource, write.node, 0, event.item);
  }
  Gate& gate = gates_[write.lock];
  const bool alone = write.mode == LockMode::Exclusive;
  const bool accepted = (alone ? write.token >= gate.highest : write.token > gate.exclusive) || defects_.gate_open;
  if (accepted) gate.highest = std::max(gate.highest, write.token);
  if (accepted && alone) gate.exclusive = write.token;
  if (!accepted && locks_.taken_over_since(write.session, write.held)) calls_.reach(Situation::PreviousHolderRefused);
  locks_.resource_admits(write.lock, write.token, write.mode, write.held, accepted);
}

const ProtectedResources::Write& ProtectedResources::recent(Random& random, size_t newest) const {
  return writes_[writes_.size() - 1 - random.below(std::min(writes_.size(), newest))];
}

}  // namespace coordkit::sim

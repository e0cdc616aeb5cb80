#include "sim/nodes/processes.h"

#include <utility>

namespace coordkit::sim {

using std::chrono::milliseconds;

// A disk that cannot be opened is retried, unless it has lost acknowledged data: then it is replaced, and so is one
// that has lost the genesis.
void Processes::start(uint32_t node) {
  if (nodes_[node]->up() || churn_.away(node)) return;
  if (!calm_ && plan_.crashes_in_open && random_.chance(0.1)) {
    nodes_[node]->stores().log().disk().lose_power_in_open(random_.below(12));
  }
  const absl::Status opened = nodes_[node]->start();
  situations_.opened(node, opened);
  const NodeStores& stores = nodes_[node]->stores();
  const bool aside = opened.ok() && stores.log().disk().found().holes && nodes_[node]->engine()->core() == nullptr;
  if (opened.ok() && !aside) return;
  if (!stores.intact() || nodes_[node]->refused_pair()) replace_disk(node);
  world_.schedule(world_.now() + Duration(random_.between(10'000'000, 500'000'000)), EventKind::Restart, node);
}

void Processes::start_soon(uint32_t node) { world_.schedule(world_.now() + milliseconds(100), EventKind::Restart, node); }

void Processes::crash(uint32_t node, Duration down, CrashKind kind) {
  if (!nodes_[node]->up()) return;
  nodes_[node]->crash(kind);
  world_.schedule(world_.now() + down, EventKind::Restart, node);
}

void Processes::crash_in_turn(uint32_t node, Duration length) {
  if (!nodes_[node]->up()) return;
  nodes_[node]->crash_in_next_turn();
  in_turn_until_[node] = world_.now() + length;
  world_.schedule(world_.now() + length, EventKind::Restart, node);
}

void Processes::freeze(uint32_t node, Node::Freeze what) {
  nodes_[node]->freeze(what);
  situations_.lost(node);
}

void Processes::resume_event(const Event& event) {
  if (event.epoch == nodes_[event.node]->epoch() && nodes_[event.node]->frozen()) nodes_[event.node]->resume();
}

// Its next turn may have come later than its planned restart, if it stood still.
void Processes::stopped(uint32_t node) {
  const TrueTime back_by = std::exchange(in_turn_until_[node], TrueTime{});
  if (back_by != TrueTime{} && back_by <= world_.now()) start_soon(node);
  ++crashes_;
}

// A process that ended because of its disk is restarted by an operator after a while.
void Processes::halted(uint32_t node) {
  situations_.halted(node);
  const Duration most = calm_ ? Duration(milliseconds(50)) : std::chrono::seconds(2);
  world_.schedule(world_.now() + Duration(random_.below(most.count())), EventKind::Restart, node);
}

void Processes::replace_disk(uint32_t node) {
  if (nodes_[node]->up()) nodes_[node]->crash(CrashKind::Power);
  consensus_.disk_lost(node);
  nodes_[node]->lose_disk();
}

void Processes::replace_bad_disks() {
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    const NodeStores& stores = nodes_[node]->stores();
    const bool heals = stores.log().disk().damage().rotten_only() && stores.state().disk().intact();
    if (!stores.intact() && !heals) replace_disk(node);
  }
}

// FLT_V01: in the end every replica runs the newest build.
void Processes::finish_upgrade() {
  for (const auto& node : nodes_) {
    node->build().stay_newest();
    if (node->up() && !node->build().newest()) node->crash(CrashKind::Process);
  }
}

void Processes::restore(uint32_t node) {
  start(node);
  nodes_[node]->crash_in_next_turn(false);
  if (nodes_[node]->frozen()) nodes_[node]->resume();
  nodes_[node]->scrub();
}

}  // namespace coordkit::sim

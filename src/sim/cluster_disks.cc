// Disk faults. Errors and lack of space are within what every replica promises to survive, so they strike any node. Rot,
// misdirected pages and lost syncs take away acknowledged data: they strike one disk at a time, and only where all others
// could do without it. Damaged entries come back from the leader; a disk that cannot be opened is replaced. One that lost its
// newest writes without a trace is replaced before it takes part again, for the loss could not be detected.
#include <fmt/format.h>

#include "sim/cluster.h"
#include "sim/violation.h"

namespace coordkit::sim {

using std::chrono::milliseconds;

namespace {

FileFaults draw_errors(Random& random) {
  FileFaults faults;
  const uint64_t way = random.below(4);
  if (way == 0 || way == 3) faults.write_errors = random.below(50'000);
  if (way == 1 || way == 3) faults.sync_errors = random.below(50'000);
  if (way == 2 || way == 3) faults.read_errors = random.below(500'000);
  return faults;
}

}  // namespace

void Cluster::strike_disk(ActiveFault fault, Duration length) {
  if (fault.kind == FaultKind::RotEverywhere) return rot_everywhere();
  SimLogStore& log = nodes_[fault.node]->log();
  if (fault.kind >= FaultKind::Rot && !churn_.may_lose_disk(fault.node)) return;
  if (fault.kind == FaultKind::DiskError) fault.files = draw_errors(striking_);
  if (fault.kind == FaultKind::DiskFull)
    fault.files.bytes_max = log.file_bytes() + striking_.below(3 * plan_.log_files.segment_bytes);
  if (fault.kind == FaultKind::LostSync) fault.files.lying_syncs = true;
  const bool misdirected_read = fault.kind == FaultKind::Misdirected && striking_.chance(0.5);
  if (misdirected_read) fault.files.misdirected_reads = striking_.below(500'000);
  if (fault.kind == FaultKind::Misdirected && !misdirected_read && !log.misdirect()) return;
  if (fault.kind == FaultKind::StateRot && !nodes_[fault.node]->state().rot()) return;
  if (fault.kind == FaultKind::LostFiles && !lose_files(fault.node)) return;
  if (fault.kind == FaultKind::Rot) {
    if (!log.rot()) return;
    for (uint64_t more = striking_.below(4); more > 0; --more) log.rot();
  }
  world_.trace(fault.node, "disk fault {} for {} us", static_cast<uint64_t>(fault.kind),
               static_cast<uint64_t>(length.count()) / 1000);
  record(fault, length);
  if (fault.files == FileFaults{}) return;
  const uint32_t node = fault.node;
  remember(std::move(fault), length);
  refresh_disk(node);
}

// On all replicas at once, each in its own place. If it were on their disks, and they lost power now, the cluster would be
// lost with it: so it passes with the process. A scrub comes before long.
void Cluster::rot_everywhere() {
  ActiveFault fault{.kind = FaultKind::RotEverywhere};
  world_.trace(kNoNode, "disk fault {} on all that run", static_cast<uint64_t>(fault.kind));
  record(fault, Duration());
  for (uint32_t node = 0; node < plan_.nodes; ++node) {
    if (!nodes_[node]->rot_passing(striking_)) continue;
    rotten_since_[node] = nodes_[node]->epoch();
    world_.schedule(world_.now() + Duration(striking_.below(2'000'000'000)), EventKind::Scrub, node, nodes_[node]->epoch());
  }
}

void Cluster::plan_scrub(uint32_t node) {
  constexpr uint64_t kAnotherOne = 1;
  const Duration wait(random_.below(static_cast<uint64_t>(2 * plan_.scrub_interval.count())));
  world_.schedule(world_.now() + wait, EventKind::Scrub, node, nodes_[node]->epoch(), kAnotherOne);
}

void Cluster::scrub(const Event& event) {
  if (event.epoch != nodes_[event.node]->epoch()) return;
  nodes_[event.node]->scrub();
  if (event.item != 0 && nodes_[event.node]->up()) plan_scrub(event.node);
}

void Cluster::look_for_healed(uint32_t node) {
  if (nodes_[node]->rots() && nodes_[node]->epoch() == rotten_since_[node]) return;
  if (nodes_[node]->epoch() == rotten_since_[node]) reach(Situation::RotHealed);
  rotten_since_[node] = 0;
}

void Cluster::look_for_mended(uint32_t node) {
  const raft::Core* core = nodes_[node]->engine()->core();
  const bool lacks = core != nullptr && core->floor().index;
  if (lacks_[node] && !lacks && core != nullptr) reach(Situation::LogMended);
  lacks_[node] = lacks;
}

// INV_S06: everything that rots under a running replica is whole again.
bool Cluster::rot_is_over() const {
  return std::ranges::none_of(nodes_, [](const auto& node) { return node->up() && node->rots_in_use(); });
}

// Which files were lost shows at the next start: either nothing may have been lost with them, or everything (FLT_D21).
bool Cluster::lose_files(uint32_t node) {
  using Files = SimLogStore::Files;
  const Files which = std::array{Files::All, Files::Newest, Files::Any}[striking_.below(3)];
  const bool of_state = striking_.chance(0.3);
  const Duration down(striking_.below(1'000'000'000));
  if (nodes_[node]->up()) nodes_[node]->crash(CrashKind::Power);
  const bool lost = of_state ? nodes_[node]->state().lose_files() : nodes_[node]->log().lose_files(which);
  if (lost) reach(of_state ? Situation::CheckpointLost : which == Files::All ? Situation::LogLost : Situation::SegmentLost);
  world_.schedule(world_.now() + down, EventKind::Restart, node);
  return lost;
}

void Cluster::refresh_disk(uint32_t node) {
  FileFaults sum;
  for (const ActiveFault& fault : faults_) {
    if (!fault.on || fault.node != node) continue;
    sum.write_errors += fault.files.write_errors;
    sum.sync_errors += fault.files.sync_errors;
    sum.read_errors += fault.files.read_errors;
    sum.misdirected_reads += fault.files.misdirected_reads;
    sum.lying_syncs = sum.lying_syncs || fault.files.lying_syncs;
    if (fault.files.bytes_max) sum.bytes_max = std::min(sum.bytes_max.value_or(~uint64_t{0}), *fault.files.bytes_max);
  }
  nodes_[node]->log().set_faults(sum);
  nodes_[node]->state().set_errors(sum.write_errors + sum.sync_errors);
  nodes_[node]->state().set_full(sum.bytes_max.has_value());
}

// A process that ended because of its disk is restarted by an operator after a while.
void Cluster::halted(uint32_t node) {
  reach(nodes_[node]->too_old() ? Situation::OlderBuildRefused : Situation::HaltedByDisk);
  const Duration most = hostile_ ? Duration(std::chrono::seconds(2)) : milliseconds(50);
  world_.schedule(world_.now() + Duration(random_.below(most.count())), EventKind::Restart, node);
}

// INV_R23. Asked in the very turn in which a replica on a rolled-back disk takes part again, before anything leaves.
bool Cluster::may_go_on(uint32_t node) {
  promises_.turned(node);
  SimLogStore& log = nodes_[node]->log();
  const raft::Core* core = nodes_[node]->engine()->core();
  if (log.stands_for(log.id()) || core == nullptr || !core->rollback_checked()) return true;
  const Promises::Verdict verdict = promises_.judge(node);
  if (verdict == Promises::Verdict::Told || churn_.mixed_up(node)) {
    throw Violation("INV_R23",
                    fmt::format("n{} takes part with a disk that forgot what those who answered had heard", node + 1));
  }
  if (verdict == Promises::Verdict::Unknown) return false;
  reach(Situation::SetBackHarmless);
  world_.trace(node, "has forgotten nothing that matters");
  promises_.stands_again(node);
  log.stand_again();
  return true;
}

// Beyond the promise: none that answered could know. What would follow proves nothing, so an operator steps in.
void Cluster::pulled_out(uint32_t node) {
  reach(Situation::SetBackUnnoticed);
  replace_disk(node);
  restart_soon(node);
}

void Cluster::replace_disk(uint32_t node) {
  if (nodes_[node]->up()) nodes_[node]->crash(CrashKind::Power);
  consensus_.disk_lost(node);
  nodes_[node]->lose_disk();
}

void Cluster::replace_bad_disks() {
  for (uint32_t node = 0; node < plan_.nodes; ++node) {
    const bool heals = nodes_[node]->log().rotten_only() && nodes_[node]->state().intact();
    if (!nodes_[node]->intact() && !heals) replace_disk(node);
  }
}

}  // namespace coordkit::sim

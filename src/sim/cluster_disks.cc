// Faults of disks. Errors and lack of space are within what every replica promises to survive, so they strike anybody. Rot,
// misdirected pages and lost syncs take away what was acknowledged: they strike one disk at a time, and only where all others
// could do without it. Such a disk keeps its replica in quarantine until it is replaced; one that has lost its newest writes
// without a trace is replaced before it takes part again, for nobody could tell.
#include "sim/cluster.h"

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
}

// A process that has ended over its disk is started again, by somebody who has looked at it for a while.
void Cluster::halted(uint32_t node) {
  reach(Mark::HaltedByDisk);
  const Duration most = hostile_ ? Duration(std::chrono::seconds(2)) : milliseconds(50);
  world_.schedule(world_.now() + Duration(random_.below(most.count())), EventKind::Restart, node);
}

void Cluster::replace_disk(uint32_t node) {
  if (nodes_[node]->up()) nodes_[node]->crash(CrashKind::Power);
  consensus_.disk_lost(node);
  nodes_[node]->lose_disk();
}

void Cluster::replace_bad_disks() {
  for (uint32_t node = 0; node < plan_.nodes; ++node) {
    if (!nodes_[node]->sound()) replace_disk(node);
  }
}

}  // namespace coordkit::sim

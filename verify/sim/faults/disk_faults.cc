#include "sim/faults/disk_faults.h"

#include <algorithm>
#include <array>

namespace coordkit::sim {

namespace {

FileFaults draw_errors(Random& random) {
  FileFaults faults;
  const uint64_t way = random.below(4);
  if (way == 0 || way == 3) faults.write_errors = random.below(50'000);
  if (way == 1 || way == 3) faults.sync_errors = random.below(50'000);
  if (way == 2 || way == 3) faults.read_errors = random.below(500'000);
  return faults;
}

bool takes_data(FaultKind kind) { return kind >= FaultKind::Rot && kind <= FaultKind::LostFiles; }

}  // namespace

std::optional<FileFaults> DiskFaults::strike(FaultKind kind, uint32_t node, Random& striking) {
  if (takes_data(kind) && !churn_.may_lose_disk(node)) return std::nullopt;
  const uint64_t used = stores(node).log().disk().bytes().files().bytes();
  FileFaults lasting;
  if (kind == FaultKind::DiskError) lasting = draw_errors(striking);
  if (kind == FaultKind::DiskFull) lasting.bytes_max = used + striking.below(3 * plan_.log_files.segment_bytes);
  if (kind == FaultKind::LostSync) lasting.lying_syncs = true;
  const bool misdirected_read = kind == FaultKind::Misdirected && striking.chance(0.5);
  if (misdirected_read) lasting.misdirected_reads = striking.below(500'000);
  if (!misdirected_read && !damage(kind, node, striking)) return std::nullopt;
  return lasting;
}

// False: there is nothing that could be damaged.
bool DiskFaults::damage(FaultKind kind, uint32_t node, Random& striking) {
  LogDamage& log = stores(node).log().disk().damage();
  if (kind == FaultKind::Misdirected) return log.misdirect();
  if (kind == FaultKind::StateRot) return stores(node).state().disk().rot();
  if (kind == FaultKind::LostFiles) return lose_files(node, striking);
  if (kind == FaultKind::SpareError || kind == FaultKind::CheckpointError) return fail_some(kind, node, striking);
  if (kind != FaultKind::Rot) return true;
  if (!log.rot()) return false;
  for (uint64_t more = striking.below(4); more > 0; --more) log.rot();
  return true;
}

// Which files were lost shows at the next start: either nothing may have been lost with them, or everything (FLT_D21).
bool DiskFaults::lose_files(uint32_t node, Random& striking) {
  using Files = LogDamage::Files;
  const Files which = std::array{Files::All, Files::Newest, Files::Any}[striking.below(3)];
  const bool of_state = striking.chance(0.3);
  const Duration down(striking.below(1'000'000'000));
  if (nodes_[node]->up()) nodes_[node]->crash(CrashKind::Power);
  const bool lost = of_state ? stores(node).state().disk().lose_files() : stores(node).log().disk().damage().lose_files(which);
  if (lost) {
    situations_.reach(of_state ? Situation::CheckpointLost : which == Files::All ? Situation::LogLost : Situation::SegmentLost);
  }
  world_.schedule(world_.now() + down, EventKind::Restart, node);
  return lost;
}

// Errors of files that can be made again (INV_S10), not so many that the log runs out of tries.
bool DiskFaults::fail_some(FaultKind kind, uint32_t node, Random& striking) {
  if (!nodes_[node]->up()) return false;
  const bool once = striking.chance(0.5);
  if (kind == FaultKind::CheckpointError) {
    stores(node).state().fail_next(once ? 1 : striking.between(2, 7));
  } else {
    const uint64_t after = striking.below(16);
    stores(node).log().disk().bytes().fail_spares(after, once ? 1 : striking.between(2, 40));
  }
  return true;
}

void DiskFaults::begin(uint32_t node, const FileFaults& faults) {
  active_[node].push_back(faults);
  refresh(node);
}

void DiskFaults::end(uint32_t node, const FileFaults& faults) {
  active_[node].erase(std::ranges::find(active_[node], faults));
  refresh(node);
}

void DiskFaults::end_all() {
  for (const auto& node : nodes_) {
    node->stores().log().disk().bytes().fail_spares(0, 0);
    node->stores().state().fail_next(0);
  }
}

void DiskFaults::refresh(uint32_t node) {
  FileFaults sum;
  for (const FileFaults& faults : active_[node]) {
    sum.write_errors += faults.write_errors;
    sum.sync_errors += faults.sync_errors;
    sum.read_errors += faults.read_errors;
    sum.misdirected_reads += faults.misdirected_reads;
    sum.lying_syncs = sum.lying_syncs || faults.lying_syncs;
    if (faults.bytes_max) sum.bytes_max = std::min(sum.bytes_max.value_or(~uint64_t{0}), *faults.bytes_max);
  }
  stores(node).log().disk().damage().set_faults(sum);
  stores(node).state().set_errors(sum.write_errors + sum.sync_errors);
  stores(node).state().set_full(sum.bytes_max.has_value());
}

void DiskFaults::slow_down(uint32_t node) {
  ++slow_[node];
  stores(node).set_quality(plan_.slow_disk);
}

void DiskFaults::speed_up(uint32_t node) {
  if (--slow_[node] != 0) return;
  stores(node).set_quality(plan_.disk);
  stores(node).hurry();
}

}  // namespace coordkit::sim

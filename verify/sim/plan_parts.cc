#include "sim/plan_parts.h"

#include <algorithm>
#include <array>
#include <span>
#include <variant>

#include "sim/world/draw.h"

namespace coordkit::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct FaultRange {
  FaultKind kind;
  double probability;
  Duration interval_min, interval_max, length_min, length_max;
};

void draw_ranges(Plan& plan, Random& random, std::span<const FaultRange> ranges, double share, int64_t haste) {
  for (const FaultRange& range : ranges) {
    if (!random.chance(range.probability * share)) continue;
    plan.faults.push_back({range.kind, draw(random, range.interval_min, range.interval_max) / haste, range.length_min,
                           draw_wide(random, range.length_min + milliseconds(1), range.length_max + milliseconds(1))});
  }
}

}  // namespace

Duration draw_wide(Random& random, Duration low, Duration high) {
  Duration reach = low;
  const int doublings = static_cast<int>(random.below(24));
  for (int i = 0; i < doublings && reach < high; ++i) reach *= 2;
  return std::min(high, draw(random, low, std::max(low, reach)));
}

void draw_cluster(Plan& plan, const SimOptions& options, Random& random) {
  constexpr std::array<uint32_t, 10> kSizes = {3, 3, 3, 3, 3, 3, 5, 5, 1, 2};
  plan.nodes = kSizes[random.below(kSizes.size())];
  plan.hostile = draw(random, options.hostile_time / 2, options.hostile_time * 3 / 2);
  plan.election_timeout = draw(random, milliseconds(100), milliseconds(500));
  plan.heartbeat_interval = plan.election_timeout / static_cast<int64_t>(random.between(4, 8));
  plan.checkpoint_entries = random.chance(0.5) ? random.between(5, 200) : 4096;
  plan.append_bytes_max = random.chance(0.3) ? random.between(64, 1024) : 1 << 20;
  plan.append_messages_in_flight = random.chance(0.3) ? random.between(1, 4) : 64;
  plan.window = random.chance(0.3) ? random.between(1, 8) : 1024;
  plan.cache_bytes_max = random.chance(0.3) ? random.between(256, 8192) : 64 << 20;
  plan.apply_bytes_per_turn = random.chance(0.3) ? random.between(1, 1024) : 1 << 20;
  plan.timers_per_entry = random.chance(0.3) ? random.between(1, 3) : 1024;
  plan.leases = random.chance(0.4);
  plan.turn_latency_max = random.chance(0.5) ? microseconds(50) : milliseconds(2);
  if (random.chance(0.7)) plan.append_delay = draw_wide(random, milliseconds(1), plan.election_timeout);
}

void draw_clocks(Plan& plan, Random& random) {
  constexpr int64_t kBound = kRateErrorPpm;
  for (uint32_t node = 0; node < plan.nodes; ++node) {
    const uint64_t way = random.below(4);
    const int64_t inside = static_cast<int64_t>(random.below(2 * kBound + 1)) - kBound;
    plan.clock_ppm.push_back(way == 0 ? -kBound : way == 1 ? kBound : way == 2 ? inside : 0);
  }
}

void draw_qualities(Plan& plan, Random& random) {
  plan.calm.delay_min = microseconds(50);
  plan.calm.delay_max = draw_wide(random, microseconds(100), plan.election_timeout / 20);
  if (random.chance(0.3)) plan.calm.reorder_per_million = random.below(200'000);
  plan.storm = plan.calm;
  plan.storm.delay_max = draw_wide(random, microseconds(500), plan.election_timeout);
  if (random.chance(0.6)) plan.storm.drop_per_million = random.below(random.chance(0.2) ? 700'000 : 150'000);
  if (random.chance(0.6)) plan.storm.duplicate_per_million = random.below(400'000);
  if (random.chance(0.6)) plan.storm.reorder_per_million = random.below(800'000);
  if (random.chance(0.5)) plan.storm.tail_per_million = random.below(50'000);
  if (random.chance(0.2)) {  // all of one kind of message, and no other
    plan.storm.lost_kind = random.below(std::variant_size_v<Message>);
    plan.storm.drop_per_million = 0;
  }
  plan.storm.tail = draw_wide(random, milliseconds(10), seconds(30));
  plan.disk.sync_max = draw_wide(random, microseconds(100), plan.election_timeout / 20);
  if (random.chance(0.2)) plan.disk.spike_per_million = random.below(10'000);
  plan.disk.spike = std::min<Duration>(milliseconds(200), plan.election_timeout / 2);  // a hiccup; SlowDisk is the real thing
  plan.slow_disk = {milliseconds(5), draw_wide(random, milliseconds(50), seconds(5)), 0, {}};
  plan.stale_delivery = random.chance(0.5);
  plan.through_wire = random.chance(0.3);
}

void draw_faults(Plan& plan, Random& random, double share, int64_t haste) {
  static constexpr FaultRange kRanges[] = {
      {FaultKind::Storm, 0.5, seconds(2), seconds(10), milliseconds(100), seconds(8)},
      {FaultKind::OneWayCut, 0.3, seconds(1), seconds(8), milliseconds(10), seconds(6)},
      {FaultKind::PairCut, 0.3, seconds(1), seconds(8), milliseconds(10), seconds(6)},
      {FaultKind::Isolation, 0.4, seconds(2), seconds(10), milliseconds(50), seconds(8)},
      {FaultKind::Split, 0.3, seconds(2), seconds(10), milliseconds(50), seconds(8)},
      {FaultKind::Flap, 0.2, seconds(2), seconds(10), milliseconds(200), seconds(5)},
      {FaultKind::Clog, 0.3, seconds(1), seconds(8), milliseconds(20), seconds(8)},
      {FaultKind::ConnectionLoss, 0.3, milliseconds(500), seconds(5), milliseconds(1), seconds(1)},
      {FaultKind::Crash, 0.5, seconds(1), seconds(10), milliseconds(1), seconds(8)},
      {FaultKind::CrashInTurn, 0.4, seconds(1), seconds(10), milliseconds(1), seconds(4)},
      {FaultKind::PowerLoss, 0.2, seconds(5), seconds(20), milliseconds(1), seconds(3)},
      {FaultKind::Pause, 0.5, seconds(1), seconds(10), milliseconds(100), seconds(15)},
      {FaultKind::Suspend, 0.3, seconds(2), seconds(10), milliseconds(100), seconds(15)},
      {FaultKind::SlowDisk, 0.3, seconds(2), seconds(10), milliseconds(200), seconds(8)},
      {FaultKind::ClockRate, 0.3, milliseconds(500), seconds(5), {}, {}},
  };
  draw_ranges(plan, random, kRanges, share, haste);
}

void draw_disks(Plan& plan, Random& random, double share, int64_t haste) {
  static constexpr FaultRange kRanges[] = {
      {FaultKind::DiskError, 0.3, seconds(2), seconds(10), milliseconds(20), seconds(3)},
      {FaultKind::DiskFull, 0.3, seconds(2), seconds(10), milliseconds(100), seconds(6)},
      {FaultKind::Rot, 0.3, seconds(3), seconds(15), {}, {}},
      {FaultKind::Misdirected, 0.3, seconds(3), seconds(15), milliseconds(20), seconds(2)},
      {FaultKind::LostSync, 0.3, seconds(3), seconds(15), milliseconds(20), seconds(5)},
  };
  plan.log_files.segment_bytes = uint64_t{64 << 10} << random.below(3);
  plan.log_files.small_segment_bytes = random.chance(0.5) ? 32 << 10 : 64 << 10;
  plan.log_files.idle_before_mark = draw_wide(random, milliseconds(1), seconds(1));
  plan.crashes_in_open = random.chance(0.5);
  draw_ranges(plan, random, kRanges, share, haste);
}

void draw_late_faults(Plan& plan, Random& random, double share, int64_t haste) {
  static constexpr FaultRange kRanges[] = {
      {FaultKind::Fade, 0.3, seconds(2), seconds(10), milliseconds(50), seconds(4)},
      {FaultKind::HeldKind, 0.3, seconds(1), seconds(8), milliseconds(20), seconds(8)},
  };
  draw_ranges(plan, random, kRanges, share, haste);
}

void draw_state_rot(Plan& plan, Random& random, double share, int64_t haste) {
  static constexpr FaultRange kRanges[] = {{FaultKind::StateRot, 0.3, seconds(3), seconds(15), {}, {}}};
  draw_ranges(plan, random, kRanges, share, haste);
}

void draw_lost_files(Plan& plan, Random& random, double chance) {
  if (!random.chance(chance)) return;
  plan.faults.push_back({FaultKind::LostFiles, draw(random, seconds(2), seconds(10)), {}, milliseconds(1)});
}

void draw_work(Plan& plan, Random& random) {
  WorkPlan& work = plan.work;
  work.workers_per_node = static_cast<uint32_t>(random.chance(0.1) ? random.between(8, 20) : random.between(1, 4));
  work.locks = static_cast<uint32_t>(random.between(1, 3));
  work.keys = static_cast<uint32_t>(random.between(1, 4));
  work.ttl_min = random.chance(0.3) ? milliseconds(50) : milliseconds(500);
  work.ttl_max = draw(random, work.ttl_min, seconds(5));
  work.think_max = draw_wide(random, milliseconds(1), milliseconds(500));
  work.hold_max = draw_wide(random, milliseconds(1), seconds(3));
  work.kv_percent = random.below(50);
  work.query_percent = random.below(20);
}

void draw_states(Plan& plan, Random& random) {
  if (random.chance(0.3)) return;
  StatePlan& states = plan.states;
  states.log_retained_bytes = random.below(random.chance(0.5) ? 1000 : 30'000);
  plan.checkpoint_entries = std::min<uint64_t>(plan.checkpoint_entries, random.between(5, 300));
  if (random.chance(0.6)) states.chunk_bytes = random.between(1, 2000);
  if (random.chance(0.2)) states.bytes_per_second = random.between(20'000, 1'000'000);
  states.view_idle = draw(random, milliseconds(500), seconds(5));
  if (random.chance(0.3)) states.view_max = draw(random, milliseconds(100), seconds(5));
  states.read_max = draw_wide(random, microseconds(100), milliseconds(50));
  states.load_max = draw_wide(random, milliseconds(1), seconds(3));
}

void draw_primitives(Plan& plan, Random& random, double chance) {
  if (random.chance(chance)) plan.work.coordination_share = random.chance(0.5) ? 0.6 : 0.2;
  if (plan.work.coordination_share > 0) plan.work.observers = 3;
  if (random.chance(chance)) plan.work.session_change_share = random.chance(0.5) ? 0.2 : 0.05;
}

void draw_strangers(Plan& plan, Random& random, double share, int64_t haste) {
  static constexpr FaultRange kRanges[] = {{FaultKind::Stranger, 0.5, milliseconds(500), seconds(10), {}, {}}};
  if (!plan.faults.empty()) draw_ranges(plan, random, kRanges, share, haste);
}

void draw_overtaken(Plan& plan, Random& random, double chance) {
  const bool free = plan.churn_interval > Duration::zero() && !plan.transfers_only && plan.disks_set_back == 0;
  if (plan.nodes < 3 || !free || !random.chance(chance)) return;
  const Duration election = plan.election_timeout;
  plan.faults.push_back({FaultKind::Overtaken, draw(random, seconds(1), seconds(4)), 3 * election, 8 * election});
}

void draw_scrubs(Plan& plan, Random& random, double chance) {
  if (!random.chance(chance)) return;
  plan.scrub_interval = draw_wide(random, milliseconds(100), seconds(5));
  plan.faults.push_back({FaultKind::RotEverywhere, draw(random, seconds(1), seconds(5)), {}, milliseconds(1)});
}

void draw_passing_errors(Plan& plan, Random& random, double chance) {
  for (const FaultKind kind : {FaultKind::SpareError, FaultKind::CheckpointError}) {
    if (!random.chance(chance)) continue;
    plan.faults.push_back({kind, draw(random, milliseconds(500), seconds(4)), {}, milliseconds(1)});
  }
}

// Now and then a run is so long, and a fault too, that the cluster forgets an origin that is still there.
void draw_remotes(Plan& plan, Random& random) {
  RemotePlan& remotes = plan.remotes;
  remotes.count = static_cast<uint32_t>(random.between(1, 4));
  for (uint32_t i = 0; i < remotes.count; ++i) {
    const int64_t inside = static_cast<int64_t>(random.below(2 * kRateErrorPpm + 1)) - int64_t{kRateErrorPpm};
    const uint64_t way = random.below(4);
    remotes.clock_ppm.push_back(way == 0 ? -int64_t{kRateErrorPpm} : way == 1 ? int64_t{kRateErrorPpm} : inside);
  }
  remotes.jitter = draw_wide(random, milliseconds(1), seconds(1));
  remotes.patience = draw(random, milliseconds(100), seconds(2));
  remotes.interval = draw_wide(random, milliseconds(50), seconds(4));
  remotes.longest = draw(random, milliseconds(100), seconds(15));
  if (!random.chance(0.1)) return;
  plan.hostile = std::max<Duration>(plan.hostile, seconds(150));
  plan.work.workers_per_node = std::min(plan.work.workers_per_node, uint32_t{2});
  plan.work.think_max = std::max<Duration>(plan.work.think_max, milliseconds(300));
  remotes.interval = seconds(10);
  remotes.longest = seconds(100);
}

void draw_histories(Plan& plan, Random& random) {
  using Sound = HistoriesPlan::Sound;
  constexpr std::array<Sound, 6> kSound = {Sound::CutOff, Sound::CutOff, Sound::CutOff,
                                           Sound::Down,   Sound::Down,   Sound::Present};
  HistoriesPlan& histories = plan.histories.emplace();
  if (random.chance(0.5)) histories.strike = HistoriesPlan::Strike::CopyBesideOriginal;
  histories.sound = kSound[random.below(kSound.size())];
  histories.copied = static_cast<uint32_t>(random.below(plan.nodes));
  histories.images = static_cast<uint32_t>(random.between(2, 6));
  histories.newer = static_cast<uint32_t>(random.below(histories.images));
  histories.copy_ends = random.chance(0.5);
  histories.all_restart = random.chance(0.2);
  histories.apart = draw_wide(random, plan.election_timeout, plan.hostile / 2);
}

}  // namespace coordkit::sim

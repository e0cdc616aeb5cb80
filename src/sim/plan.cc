#include "sim/plan.h"

#include <algorithm>
#include <array>
#include <span>
#include <variant>

#include "coordkit/feature_level.h"
#include "sim/draw.h"

namespace coordkit::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Spread over orders of magnitude: small values are as likely as large ones.
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
}

// Rates at the edges of the bound are the interesting ones.
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
  if (random.chance(0.2)) {  // all messages of one kind, and no others
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

struct FaultRange {
  FaultKind kind;
  double probability;
  Duration interval_min, interval_max, length_min, length_max;
};

// `share` scales how likely each fault is; `haste` divides the time between two.
void draw_ranges(Plan& plan, Random& random, std::span<const FaultRange> ranges, double share, int64_t haste) {
  for (const FaultRange& range : ranges) {
    if (!random.chance(range.probability * share)) continue;
    plan.faults.push_back({range.kind, draw(random, range.interval_min, range.interval_max) / haste, range.length_min,
                           draw_wide(random, range.length_min + milliseconds(1), range.length_max + milliseconds(1))});
  }
}

void draw_faults(Plan& plan, Random& random, double share = 1, int64_t haste = 1) {
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

// How the log's files are cut, and what its disk does to them. Drawn after everything else, so that the rest of a plan is the
// same.
void draw_disks(Plan& plan, Random& random, double share, int64_t haste = 1) {
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

// Also after everything else.
void draw_late_faults(Plan& plan, Random& random, double share, int64_t haste = 1) {
  static constexpr FaultRange kRanges[] = {
      {FaultKind::Fade, 0.3, seconds(2), seconds(10), milliseconds(50), seconds(4)},
      {FaultKind::HeldKind, 0.3, seconds(1), seconds(8), milliseconds(20), seconds(8)},
  };
  draw_ranges(plan, random, kRanges, share, haste);
}

void draw_state_rot(Plan& plan, Random& random, double share, int64_t haste = 1) {
  static constexpr FaultRange kRanges[] = {{FaultKind::StateRot, 0.3, seconds(3), seconds(15), {}, {}}};
  draw_ranges(plan, random, kRanges, share, haste);
}

// Files that are gone at the next start.
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

// After everything else, so that older seeds keep what they draw.
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

void swarm(Plan& plan, const SimOptions& options, Random& random) {
  draw_cluster(plan, options, random);
  draw_clocks(plan, random);
  draw_qualities(plan, random);
  draw_faults(plan, random);
  draw_work(plan, random);
  draw_states(plan, random);
  draw_disks(plan, random, 0.5);
  draw_late_faults(plan, random, 0.5);
  draw_state_rot(plan, random, 0.5);
}

// Nearly every fault, and twice as often.
void harsh(Plan& plan, const SimOptions& options, Random& random) {
  draw_cluster(plan, options, random);
  draw_clocks(plan, random);
  draw_qualities(plan, random);
  draw_faults(plan, random, 3, 2);
  draw_work(plan, random);
  draw_states(plan, random);
  draw_disks(plan, random, 1, 2);
  draw_late_faults(plan, random, 2, 2);
  draw_state_rot(plan, random, 1, 2);
}

// Keys and their watchers, with a history that is compacted under their eyes.
void keys(Plan& plan, const SimOptions& options, Random& random) {
  swarm(plan, options, random);
  plan.work.keys = static_cast<uint32_t>(random.between(2, 8));
  plan.work.think_max = draw_wide(random, milliseconds(1), milliseconds(100));
  plan.work.kv_percent = 85;
  plan.work.watchers = static_cast<uint32_t>(random.between(2, 8));
  plan.work.watcher_pause_max = draw_wide(random, milliseconds(5), seconds(3));
  if (random.chance(0.6)) plan.work.compact_percent = random.between(1, 20);
  if (random.chance(0.3)) plan.work.revisions_kept = random.between(1, 200);
  if (random.chance(0.7)) plan.work.transaction_percent = random.between(10, 90);
  // History makes the state large; in smaller pieces the transfer would take longer than anyone waits.
  plan.states.chunk_bytes = std::max<size_t>(plan.states.chunk_bytes, 32 << 10);
  plan.states.bytes_per_second = std::max<uint64_t>(plan.states.bytes_per_second, 1'000'000);
}

// Short sessions, one or two locks, many workers, processes and machines that stand still: what holders may believe.
void holders(Plan& plan, const SimOptions& options, Random& random) {
  draw_cluster(plan, options, random);
  draw_clocks(plan, random);
  draw_qualities(plan, random);
  draw_work(plan, random);
  plan.work = {.workers_per_node = static_cast<uint32_t>(random.between(2, 6)),
               .locks = static_cast<uint32_t>(random.between(1, 2)),
               .ttl_min = milliseconds(50),
               .ttl_max = draw_wide(random, milliseconds(60), seconds(2)),
               .think_max = milliseconds(10),
               .hold_max = draw_wide(random, milliseconds(5), seconds(1)),
               .kv_percent = 2,
               .query_percent = 4};
  for (FaultKind kind : {FaultKind::Pause, FaultKind::Suspend, FaultKind::Isolation, FaultKind::Clog, FaultKind::ClockRate,
                         FaultKind::Crash, FaultKind::Storm}) {
    plan.faults.push_back({kind, draw(random, milliseconds(500), seconds(5)), milliseconds(10), seconds(3)});
  }
  draw_states(plan, random);
}

// The worst case for a lease: half of a cluster has given its leader up, and nothing else tells the leader. Many reads and a
// write now and then, or those that gave up have missed too much to be elected in time. At most one other fault, because
// anything else ends most leases before the moment comes.
void fading_leaders(Plan& plan, Random& random) {
  plan.work.keys = 1;
  plan.work.workers_per_node = 2;
  plan.work.think_max = plan.election_timeout / 5;
  plan.work.lease_read_share = 0.99;
  constexpr FaultKind kOthers[] = {FaultKind::Pause, FaultKind::Suspend, FaultKind::Clog, FaultKind::ClockRate};
  const FaultKind other = kOthers[random.below(std::size(kOthers))];
  if (random.chance(0.3)) plan.faults.push_back({other, seconds(2), milliseconds(10), 4 * plan.election_timeout});
  plan.faults.push_back({FaultKind::Fade, 6 * plan.election_timeout, milliseconds(1), plan.election_timeout});
  plan.transfers_only = true;
  if (random.chance(0.3)) plan.churn_interval = 4 * plan.election_timeout;
}

// Leaders that answer reads alone, cut off, asleep or stopped again and again, while many read and write a few keys.
void leases(Plan& plan, const SimOptions& options, Random& random) {
  draw_cluster(plan, options, random);
  plan.nodes = random.chance(0.8) ? 3 : 5;
  draw_clocks(plan, random);
  draw_qualities(plan, random);
  draw_work(plan, random);
  plan.leases = true;
  if (random.chance(0.5)) {  // so long that there is always an answer in flight
    plan.calm.delay_min = plan.election_timeout / 40;
    plan.calm.delay_max = plan.election_timeout / 20;
    plan.append_bytes_max = std::max<size_t>(plan.append_bytes_max, 4096);  // or the calm phase is too short to catch up
    plan.append_messages_in_flight = std::max<size_t>(plan.append_messages_in_flight, 8);
  }
  const bool quiet = random.chance(0.4);  // a node that missed something seldom wins an election while many write
  plan.work.workers_per_node = quiet ? 2 : 6;
  plan.work.think_max = quiet ? plan.election_timeout : milliseconds(5);
  plan.work.kv_percent = 90;
  if (random.chance(0.5)) return fading_leaders(plan, random);
  for (FaultKind kind : {FaultKind::Pause, FaultKind::Suspend, FaultKind::Isolation, FaultKind::OneWayCut, FaultKind::Clog,
                         FaultKind::ClockRate, FaultKind::Crash, FaultKind::PairCut, FaultKind::Fade}) {
    plan.faults.push_back({kind, draw(random, milliseconds(500), seconds(2)), milliseconds(10), 4 * plan.election_timeout});
  }
  // A voter that is back before its leader's lease has ended, and leaders that step down on request.
  plan.faults.push_back({FaultKind::Crash, milliseconds(500), milliseconds(1), plan.election_timeout / 4});
  plan.transfers_only = true;
  if (random.chance(0.7)) plan.churn_interval = draw(random, milliseconds(100), seconds(1));
}

// Members come and go, lose their disks and transfer leadership, under all other faults.
void membership(Plan& plan, const SimOptions& options, Random& random) {
  draw_cluster(plan, options, random);
  plan.founders = static_cast<uint32_t>(random.between(1, 3));
  plan.nodes = std::max(plan.founders + static_cast<uint32_t>(random.between(1, 3)), uint32_t{3});
  plan.churn_interval = draw_wide(random, milliseconds(100), seconds(4));
  draw_states(plan, random);
  if (random.chance(0.5)) plan.states.chunk_bytes = random.between(1, 400);
  plan.promotion_lag_max = random.chance(0.5) ? random.between(1, 50) : 1000;
  draw_clocks(plan, random);
  draw_qualities(plan, random);
  draw_faults(plan, random);
  draw_work(plan, random);
  plan.work.workers_per_node = std::min(plan.work.workers_per_node, uint32_t{3});
  draw_disks(plan, random, 0.5);
  draw_late_faults(plan, random, 0.5);
  plan.mixes_up_disks = random.chance(0.5);
  draw_state_rot(plan, random, 0.5);
  if (!random.chance(0.4)) return;
  plan.sets_disks_back = true;
  plan.founders = 3;  // the others shall be a majority
  plan.churn_interval = std::min<Duration>(plan.churn_interval, plan.election_timeout * 2);
  plan.faults.push_back({FaultKind::Isolation, seconds(1), milliseconds(20), plan.election_timeout * 3});
  plan.faults.push_back({FaultKind::Storm, seconds(1), plan.election_timeout, plan.election_timeout * 8});
  plan.storm.lost_kind.reset();
  plan.storm.drop_per_million = random.between(100'000, 500'000);
}

// Disks that fail, fill up, rot, lie and lose power, under a busy log; members get new disks in half of the runs.
void disks(Plan& plan, const SimOptions& options, Random& random) {
  draw_cluster(plan, options, random);
  plan.nodes = random.chance(0.7) ? 3 : 5;
  if (random.chance(0.5)) plan.churn_interval = draw_wide(random, milliseconds(200), seconds(4));
  draw_states(plan, random);
  draw_clocks(plan, random);
  draw_qualities(plan, random);
  draw_faults(plan, random, 0.4);
  draw_work(plan, random);
  plan.work.think_max = draw_wide(random, milliseconds(1), milliseconds(50));
  for (FaultKind kind : {FaultKind::Crash, FaultKind::CrashInTurn, FaultKind::PowerLoss}) {
    plan.faults.push_back({kind, draw(random, milliseconds(500), seconds(5)), milliseconds(1), seconds(1)});
  }
  draw_disks(plan, random, 3, 2);
  draw_state_rot(plan, random, 3, 2);
}

// The whole lock family under what is worst for holders: short sessions, clocks at the edges of their bound, pauses and sleep
// of up to ten minutes, leaders that stall, delayed mail.
void locks(Plan& plan, const SimOptions& options, Random& random) {
  draw_cluster(plan, options, random);
  draw_clocks(plan, random);
  draw_qualities(plan, random);
  draw_work(plan, random);
  plan.work = {.workers_per_node = static_cast<uint32_t>(random.between(2, 5)),
               .locks = static_cast<uint32_t>(random.between(2, 4)),
               .ttl_min = milliseconds(50),
               .ttl_max = draw_wide(random, milliseconds(100), seconds(5)),
               .think_max = draw_wide(random, milliseconds(2), milliseconds(100)),
               .hold_max = draw_wide(random, milliseconds(5), seconds(1)),
               .kv_percent = 2,
               .query_percent = 6,
               .lock_family = true};
  if (random.chance(0.5)) {
    for (int64_t& ppm : plan.clock_ppm) ppm = random.chance(0.5) ? kRateErrorPpm : -int64_t{kRateErrorPpm};
  }
  draw_faults(plan, random, 0.6);
  const bool long_pauses = random.chance(0.01);
  if (long_pauses) plan.hostile = std::chrono::minutes(12);
  const Duration longest = long_pauses ? Duration(std::chrono::minutes(10)) : Duration(seconds(10));
  for (FaultKind kind : {FaultKind::Pause, FaultKind::Suspend, FaultKind::Clog, FaultKind::ClockRate, FaultKind::SlowDisk}) {
    if (!random.chance(0.7)) continue;
    plan.faults.push_back({kind, draw(random, milliseconds(500), seconds(5)), milliseconds(10), longest});
  }
  draw_states(plan, random);
  draw_late_faults(plan, random, 1);
  if (random.chance(0.5)) plan.work.sticky_block = random.between(1, 6);
  if (!long_pauses) return;
  // Twelve minutes of work cannot be caught up one entry at a time before patience ends.
  plan.states = {};
  plan.checkpoint_entries = std::max<uint64_t>(plan.checkpoint_entries, 1000);
  plan.append_bytes_max = std::max<size_t>(plan.append_bytes_max, 64 << 10);
  plan.append_messages_in_flight = std::max<size_t>(plan.append_messages_in_flight, 64);
  plan.apply_bytes_per_turn = std::max<size_t>(plan.apply_bytes_per_turn, 64 << 10);
}

// Drawn last, so that a run without it is the run it would be otherwise.
void draw_primitives(Plan& plan, Random& random, double chance) {
  if (random.chance(chance)) plan.work.coordination_share = random.chance(0.5) ? 0.6 : 0.2;
  if (plan.work.coordination_share > 0) plan.work.observers = 3;
  if (random.chance(chance)) plan.work.session_change_share = random.chance(0.5) ? 0.2 : 0.05;
}

// No faults at all: what a healthy cluster does, and the speed of the simulator itself.
void calm(Plan& plan, const SimOptions& options, Random& random) {
  swarm(plan, options, random);
  plan.faults.clear();
}

// Drawn last too; in every profile with faults.
void draw_strangers(Plan& plan, Random& random, double share, int64_t haste) {
  static constexpr FaultRange kRanges[] = {{FaultKind::Stranger, 0.5, milliseconds(500), seconds(10), {}, {}}};
  if (!plan.faults.empty()) draw_ranges(plan, random, kRanges, share, haste);
}

// Like swarm, with hardly a moment without a talking non-member.
void strangers(Plan& plan, const SimOptions& options, Random& random) {
  swarm(plan, options, random);
  draw_strangers(plan, random, 2, 20);
}

// Like swarm, with replicas that start as older and newer builds: upgrades in any order, and downgrades.
void upgrade(Plan& plan, const SimOptions& options, Random& random) {
  swarm(plan, options, random);
  plan.newest_level = kFeatureLevel;
  plan.faults.push_back({FaultKind::Crash, draw(random, milliseconds(500), seconds(5)), milliseconds(10), seconds(1)});
}

// Replicas scrub what they have stored now and then, and their data rots in different places on all of them.
void draw_scrubs(Plan& plan, Random& random, double chance) {
  if (!random.chance(chance)) return;
  plan.scrub_interval = draw_wide(random, milliseconds(100), seconds(5));
  plan.faults.push_back({FaultKind::RotEverywhere, draw(random, seconds(1), seconds(5)), {}, milliseconds(1)});
}

struct Profile {
  std::string_view name;
  void (*draw)(Plan&, const SimOptions&, Random&);
  double primitives = 0;  // how likely a run has them, and sessions that change hands
  double lost_files = 0;  // how likely files vanish in it
  double scrubs = 0;      // how likely replicas scrub
};
constexpr Profile kProfiles[] = {{"swarm", swarm, 0.1, 0.2, 0.2},
                                 {"harsh", harsh, 0, 0.3, 0.3},
                                 {"holders", holders},
                                 {"leases", leases},
                                 {"membership", membership, 0, 0.3, 0.2},
                                 {"disks", disks, 0, 0.5, 0.5},
                                 {"locks", locks, 0.5},
                                 {"keys", keys},
                                 {"calm", calm},
                                 {"strangers", strangers},
                                 {"upgrade", upgrade, 0.1, 0.2, 0.2}};

constexpr std::string_view kFaultNames[kFaultKinds] = {
    "storm",       "one_way_cut", "pair_cut",        "isolation",  "split",         "flap",       "clog",
    "fade",        "held_kind",   "connection_loss", "crash",      "crash_in_turn", "power_loss", "pause",
    "suspend",     "slow_disk",   "clock_rate",      "stranger",   "disk_error",    "disk_full",  "rot",
    "misdirected", "lost_sync",   "state_rot",       "lost_files", "rot_everywhere"};

}  // namespace

std::string_view name_of(FaultKind kind) { return kFaultNames[static_cast<size_t>(kind)]; }

std::optional<FaultKind> fault_named(std::string_view name) {
  for (size_t kind = 0; kind < kFaultKinds; ++kind) {
    if (kFaultNames[kind] == name) return FaultKind(kind);
  }
  return std::nullopt;
}

std::vector<std::string_view> profiles() {
  std::vector<std::string_view> names;
  for (const Profile& profile : kProfiles) names.push_back(profile.name);
  return names;
}

namespace {

// A view that is closed before all ranges were compared once would be closed forever.
void leave_time(StatePlan& states) {
  states.chunk_bytes = std::max<size_t>(states.chunk_bytes, 256);  // a row of most kinds, or several of the smallest
  if (states.view_max >= std::chrono::minutes(1)) return;
  states.view_max = std::max<Duration>(states.view_max, seconds(1));
  states.chunk_bytes = std::max<size_t>(states.chunk_bytes, 2048);
}

// An embedder's changes.
void adjust(Plan& plan, const SimOptions& options) {
  if (!options.built_in_work) plan.work.workers_per_node = 0;
  const SimSizes& sizes = options.sizes;
  if (sizes.checkpoint_entries) plan.checkpoint_entries = *sizes.checkpoint_entries;
  if (sizes.log_retained_bytes) plan.states.log_retained_bytes = *sizes.log_retained_bytes;
  if (sizes.state_chunk_bytes) {
    plan.states.chunk_bytes = *sizes.state_chunk_bytes;
    plan.states.view_max = std::max<Duration>(plan.states.view_max, std::chrono::minutes(1));  // as leave_time() would
  }
  if (options.nodes != 0) {
    plan.nodes = options.nodes;
    plan.founders = std::min(plan.founders, plan.nodes);
    plan.clock_ppm.resize(plan.nodes);
  }
  if (options.founders != 0) plan.founders = options.founders;
}

}  // namespace

bool draw_plan(const SimOptions& options, Random random, Plan& plan) {
  for (const Profile& profile : kProfiles) {
    if (profile.name != options.profile) continue;
    profile.draw(plan, options, random);
    if (profile.primitives > 0) draw_primitives(plan, random, profile.primitives);
    draw_strangers(plan, random, 0.5, 1);
    if (profile.lost_files > 0) draw_lost_files(plan, random, profile.lost_files);
    if (profile.scrubs > 0) draw_scrubs(plan, random, profile.scrubs);
    leave_time(plan.states);
    adjust(plan, options);
    return true;
  }
  return false;
}

}  // namespace coordkit::sim

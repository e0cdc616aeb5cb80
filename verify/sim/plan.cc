#include "sim/plan.h"

#include <algorithm>
#include <iterator>

#include "base/sums.h"
#include "sim/plan_lists.h"
#include "sim/plan_parts.h"
#include "sim/world/draw.h"

namespace coordkit::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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
  plan.long_absences = random.chance(0.3);
  plan.founders = plan.long_absences ? 3 : static_cast<uint32_t>(random.between(1, 3));
  plan.nodes = std::max(plan.founders + static_cast<uint32_t>(random.between(1, 3)), uint32_t{3});
  plan.churn_interval = draw_wide(random, milliseconds(100), plan.long_absences ? seconds(1) : seconds(4));
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
  if (plan.long_absences || !random.chance(0.5)) return;
  plan.disks_set_back = random.chance(0.5) ? 0.6 : 0.02;  // often, or mainly just after a vote
  plan.founders = 3;                                      // the others shall be a majority
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
  if (random.chance(0.5)) {
    plan.work.sticky_block = random.between(1, 6);
    plan.work.sticky_idle_max = plan.work.sticky_block % 3;
  }
  if (!long_pauses) return;
  // Twelve minutes of work cannot be caught up one entry at a time before patience ends.
  plan.states = {};
  plan.checkpoint_entries = std::max<uint64_t>(plan.checkpoint_entries, 1000);
  plan.append_bytes_max = std::max<size_t>(plan.append_bytes_max, 64 << 10);
  plan.append_messages_in_flight = std::max<size_t>(plan.append_messages_in_flight, 64);
  plan.apply_bytes_per_turn = std::max<size_t>(plan.apply_bytes_per_turn, 64 << 10);
}

// No faults at all: what a healthy cluster does, and the speed of the simulator itself.
void calm(Plan& plan, const SimOptions& options, Random& random) {
  swarm(plan, options, random);
  plan.faults.clear();
}

// As swarm, with hardly a moment without one who talks.
void strangers(Plan& plan, const SimOptions& options, Random& random) {
  swarm(plan, options, random);
  draw_strangers(plan, random, 2, 20);
}

// Like swarm, and half of them like keys, whose answers are large: with replicas that start as older and newer builds, upgrades
// in any order, and downgrades.
void upgrade(Plan& plan, const SimOptions& options, Random& random) {
  const bool large_answers = hash_mix(0, options.seed) % 2 == 1;
  (large_answers ? keys : swarm)(plan, options, random);
  plan.upgraded = true;
  plan.faults.push_back({FaultKind::Crash, draw(random, milliseconds(500), seconds(5)), milliseconds(10), seconds(1)});
}

// The first moments of a cluster: replicas that are started with lists of members that differ, in a short run.
void founding(Plan& plan, const SimOptions& options, Random& random) {
  draw_cluster(plan, options, random);
  plan.nodes = random.chance(0.7) ? 3 : static_cast<uint32_t>(random.between(2, 5));
  plan.hostile /= 2;
  draw_clocks(plan, random);
  draw_qualities(plan, random);
  draw_faults(plan, random, 0.5);
  draw_work(plan, random);
  plan.work.workers_per_node = std::min(plan.work.workers_per_node, uint32_t{3});
  for (FaultKind kind : {FaultKind::Storm, FaultKind::Isolation, FaultKind::CrashInTurn, FaultKind::PowerLoss}) {
    if (random.chance(0.5)) plan.faults.push_back({kind, milliseconds(500), milliseconds(1), seconds(1)});
  }
  if (random.chance(0.3)) plan.churn_interval = draw(random, milliseconds(200), seconds(2));
}

// Two histories (FLT_P27, FLT_P18), with other faults around them.
void histories(Plan& plan, const SimOptions& options, Random& random) {
  draw_cluster(plan, options, random);
  plan.nodes = random.chance(0.75) ? 3 : 5;
  plan.hostile /= 2;
  draw_clocks(plan, random);
  draw_qualities(plan, random);
  draw_work(plan, random);
  plan.work.workers_per_node = std::min(plan.work.workers_per_node, uint32_t{3});
  plan.work.think_max = draw_wide(random, milliseconds(5), milliseconds(200));
  for (FaultKind kind : {FaultKind::Crash, FaultKind::Isolation, FaultKind::Storm}) {
    if (!random.chance(0.5)) continue;
    plan.faults.push_back({kind, draw(random, seconds(1), seconds(5)), milliseconds(1), seconds(1)});
  }
  draw_states(plan, random);
  draw_histories(plan, random);
}

// Callers without a replica, beside those of the replicas and under the faults of other profiles.
void remotes(Plan& plan, const SimOptions& options, Random& random) {
  constexpr decltype(&swarm) kOf[] = {swarm, swarm, holders, holders, locks, keys, membership, membership, upgrade};
  kOf[random.below(std::size(kOf))](plan, options, random);
  draw_remotes(plan, random);
}

struct Profile {
  std::string_view name;
  void (*draw)(Plan&, const SimOptions&, Random&);
  double primitives = 0;  // how likely a run has them, and sessions that change hands
  double lost_files = 0;  // how likely files vanish in it
  double scrubs = 0;      // how likely replicas scrub
  double overtaken = 0;   // how likely members change on both sides of a cut
  double lists = 0;       // how likely the lists of members differ at the first start
  double passing = 0;     // how likely files that can be made again have errors
};
constexpr Profile kProfiles[] = {{"swarm", swarm, 0.1, 0.2, 0.2, 0, 0.05, 0.2},
                                 {"harsh", harsh, 0, 0.3, 0.3, 0, 0.1, 0.3},
                                 {"holders", holders},
                                 {"leases", leases},
                                 {"membership", membership, 0, 0.3, 0.2, 0.4, 0.2},
                                 {"disks", disks, 0, 0.5, 0.5, 0.4, 0.1, 0.5},
                                 {"locks", locks, 0.5},
                                 {"keys", keys},
                                 {"calm", calm},
                                 {"strangers", strangers},
                                 {"upgrade", upgrade, 0.1, 0.2, 0.2},
                                 {"founding", founding, 0, 0, 0, 0, 1},
                                 {"histories", histories},
                                 {"remotes", remotes, 0.3}};

}  // namespace

std::vector<std::string_view> profiles() {
  std::vector<std::string_view> names;
  for (const Profile& profile : kProfiles) names.push_back(profile.name);
  return names;
}

namespace {

// A view that is closed before all ranges were compared once would be closed forever, and a state of thousands of rows that is
// sent one by one arrives after all patience is over.
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
    plan.states.view_max = std::max<Duration>(plan.states.view_max, std::chrono::minutes(1));  // which is enough for 256
  }
  if (options.nodes != 0) {
    plan.nodes = options.nodes;
    plan.founders = std::min(plan.founders, plan.nodes);
    plan.clock_ppm.resize(plan.nodes);
  }
  if (options.founders != 0) plan.founders = options.founders;
  if (options.program || options.script || options.machines || !options.built_in_work) plan.histories.reset();
}

}  // namespace

bool draw_plan(const SimOptions& options, Random random, Plan& plan) {
  for (const Profile& profile : kProfiles) {
    if (profile.name != options.profile) continue;
    profile.draw(plan, options, random);
    if (profile.primitives > 0) draw_primitives(plan, random, profile.primitives);
    if (!plan.histories) draw_strangers(plan, random, 0.5, 1);
    if (profile.lost_files > 0) draw_lost_files(plan, random, profile.lost_files);
    if (profile.scrubs > 0) draw_scrubs(plan, random, profile.scrubs);
    if (profile.overtaken > 0) draw_overtaken(plan, random, profile.overtaken);
    adjust(plan, options);
    leave_time(plan.states);
    if (!options.script) draw_first_start(plan, random, profile.lists);
    if (profile.passing > 0) draw_passing_errors(plan, random, profile.passing);
    return true;
  }
  return false;
}

}  // namespace coordkit::sim

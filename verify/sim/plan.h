// The run of one seed: how many nodes, how good their links, disks and clocks are, which faults strike how often, and what the
// work is. Everything is drawn here, once, before the run; a profile is a row of a table that draws.
#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "coordkit/engine/engine.h"
#include "coordkit/sim/sim_options.h"
#include "sim/world/disk.h"
#include "sim/world/network.h"

namespace coordkit::sim {

inline constexpr uint32_t kRateErrorPpm = 10'000;  // the bound of every clock, unless a defect says otherwise

struct FaultPlan {
  FaultKind kind = FaultKind::Crash;
  Duration interval{};  // mean time between two
  Duration length_min{};
  Duration length_max{};
};

struct WorkPlan {
  uint32_t workers_per_node = 2;
  uint32_t locks = 2;
  uint32_t keys = 3;
  Duration ttl_min = std::chrono::milliseconds(500);
  Duration ttl_max = std::chrono::seconds(5);
  Duration think_max = std::chrono::milliseconds(50);
  Duration hold_max = std::chrono::milliseconds(300);
  uint64_t kv_percent = 20;
  uint64_t query_percent = 5;
  bool lock_family = false;                   // shared holds, several at once, conversions, delays; else single exclusive locks
  uint64_t sticky_block = uint64_t{1} << 16;  // tokens that a sticky grant reserves (S-58)
  size_t sticky_idle_max = 4096;              // locks that a session keeps though nobody holds them
  uint32_t watchers = 0;                      // programs that watch the keys
  Duration watcher_pause_max = std::chrono::milliseconds(300);
  uint64_t revisions_kept = 0;       // by a leader that compacts; zero: it does not
  uint64_t compact_percent = 0;      // of the calls on keys
  uint64_t transaction_percent = 0;  // of the others: transactions, ranges, keys that go with their session
  uint32_t observers = 0;            // programs that observe leaders, counters, latches and groups
  double coordination_share = 0;     // of the actions of a worker with a session: semaphores, barriers and the like
  double session_change_share = 0;   // of idle workers, roughly: sessions are taken over and killed
  double lease_read_share = 0;       // of all actions of idle workers, before anything else is chosen
};

// When a replica has to be sent a state, and the transfer's parameters.
struct StatePlan {
  uint64_t log_retained_bytes = 64 << 20;
  size_t chunk_bytes = 512 << 10;
  uint64_t bytes_per_second = 256 << 20;
  Duration view_idle = std::chrono::seconds(10);
  Duration view_max = std::chrono::minutes(10);
  Duration read_max = std::chrono::milliseconds(1);   // of a view
  Duration load_max = std::chrono::milliseconds(50);  // of the machines
};

// The first start of a cluster with lists of members that differ, and their correction (FLT_A19). Times are since the
// beginning.
struct FirstStartPlan {
  struct WrongList {
    uint32_t node = 0;
    std::vector<Peer> members;
    Duration from{};       // it is restarted with this list; zero: it is started with it
    Duration corrected{};  // it is restarted with the right one, later
  };
  struct Restart {
    uint32_t node = 0;
    Duration at{};
    Duration down{};
  };
  std::vector<WrongList> wrong;   // at most one for each node; empty: all have one list
  std::vector<Restart> restarts;  // crashes, with the lists that are there
  bool unsaid = false;            // replicas are of a build that does not say its list, until the first is corrected
  Duration down_max{};            // of a replica whose list is changed
};

// A fault beyond the fault model, once, half way through the hostile part (FLT_P27, FLT_P18), and how long the two histories
// that may follow do not meet.
struct HistoriesPlan {
  enum class Strike : uint8_t { MajoritySetBack, CopyBesideOriginal };
  enum class Sound : uint8_t { CutOff, Down, Present };  // the members that are not set back, until the histories meet
  Strike strike = Strike::MajoritySetBack;
  Sound sound = Sound::CutOff;
  uint32_t copied = 0;       // the member whose directory is copied; modulo the number of nodes
  uint32_t images = 4;       // taken of every disk before, at equal intervals
  uint32_t newer = 0;        // of these, left out in search of the one that is put back
  bool copy_ends = false;    // before the network is whole
  bool all_restart = false;  // once it is
  Duration apart{};
};

// Processes without a replica, whose gateways are the replicas, and their faults.
struct RemotePlan {
  uint32_t count = 0;
  std::vector<int64_t> clock_ppm;  // of each
  Duration jitter{};               // as GatewayChoice
  Duration patience{};
  Duration interval{};  // mean time between two faults
  Duration longest{};   // of one
};

struct Plan {
  uint32_t nodes = 3;
  uint32_t founders = 0;        // the first nodes; the others are blank until they are added. Zero: all
  Duration churn_interval{};    // mean time between membership changes and transfers; zero: none
  bool transfers_only = false;  // the members stay, leadership moves
  double disks_set_back = 0;    // in contested elections: the share of strikes that set a disk back; zero: other strikes
  bool long_absences = false;   // of voters, while the others are exchanged
  Duration scrub_interval{};    // mean time between two scrubs of a replica; zero: none
  bool upgraded = false;        // replicas start as builds of older and newer feature levels; else all are of the newest
  bool mixes_up_disks = false;  // copies of one member's disk replace another's
  uint64_t promotion_lag_max = 1000;
  Duration hostile{};
  Duration election_timeout{};
  Duration append_delay{};  // how long leaders keep entries from those not needed for a quorum
  bool leases = false;      // leaders answer reads without a quorum
  Duration heartbeat_interval{};
  uint64_t checkpoint_entries = 0;
  size_t append_bytes_max = 0;
  size_t append_messages_in_flight = 0;
  size_t window = 0;
  size_t cache_bytes_max = 0;
  size_t apply_bytes_per_turn = 0;
  size_t timers_per_entry = 0;
  Duration turn_latency_max{};
  std::vector<int64_t> clock_ppm;  // per node
  LinkQuality calm;
  LinkQuality storm;
  DiskQuality disk;
  DiskQuality slow_disk;
  LogFilesOptions log_files;
  bool crashes_in_open = false;  // a power loss may strike during recovery of a log
  bool stale_delivery = false;
  bool through_wire = false;
  std::vector<FaultPlan> faults;
  WorkPlan work;
  StatePlan states;
  RemotePlan remotes;
  FirstStartPlan first_start;
  std::optional<HistoriesPlan> histories;

  // A place is a process with a disk: one for each member, and one more for a copy of a member's directory.
  uint32_t places() const { return histories ? nodes + 1 : nodes; }
  // A caller is a process with a client: the replicas, then those without a replica.
  uint32_t callers() const { return nodes + remotes.count; }
  uint32_t member_at(uint32_t place) const { return place < nodes ? place : histories->copied % nodes; }
};

// False if there is no such profile.
[[nodiscard]] bool draw_plan(const SimOptions& options, Random random, Plan& plan);

}  // namespace coordkit::sim

// Options and reports of simulated runs. One run is one seed: the seed draws the cluster, the
// faults and the work.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/engine/engine.h"
#include "coordkit/name_of.h"
#include "coordkit/sim/conductor.h"
#include "coordkit/sim/program.h"
#include "coordkit/sim/reduction.h"
#include "coordkit/sim/situations.h"
#include "coordkit/sim/timeline.h"
#include "coordkit/types.h"

namespace coordkit::sim {

// Kinds of faults. A profile says which of them may strike, the seed how often and when.
enum class FaultKind : uint8_t {
  Storm,           // the network loses, copies, delays and reorders
  OneWayCut,       // one directed link
  PairCut,         // both directions between two nodes; others reach both
  Isolation,       // one node, often the leader
  Split,           // two groups
  Flap,            // a link cut and mended in short turns
  Clog,            // parcels of a link are held and released at once
  Fade,            // the leader is heard by fewer and fewer, and hears less and less
  HeldKind,        // all messages of one kind between two nodes are held and released at once
  ConnectionLoss,  // a connection breaks and is made again
  Crash,           // a process dies with its unsynced writes
  CrashInTurn,     // between the effects of one turn
  PowerLoss,       // every process at once
  Pause,           // a process is frozen, its clocks continue
  Suspend,         // a machine sleeps: the lagging reading stops
  SlowDisk,        // syncs take up to seconds
  ClockRate,       // a machine's clock changes its rate within the bound
  Stranger,        // a process that was never invited sends anything
  Overtaken,       // a leader appends alone and is cut off, members change on both sides, and it
                   // starts again
  DiskError,       // reads, writes or syncs of a disk fail now and then
  DiskFull,        // files can hardly grow
  Rot,             // durable bytes change, below the durable mark
  Misdirected,     // a page is written to, or read from, another place
  LostSync,        // a disk acknowledges syncs and loses them with the power
  StateRot,        // a row of a checkpoint changes, or a staged row of a peer's state
  LostFiles,       // a segment, the whole log or the checkpoint is gone at the next start
  // The stored bytes of running replicas change on all of them at once, in different places; the
  // fault ends with the process.
  RotEverywhere,
  SpareError,       // calls for files that are kept ready for the log fail, once or some in a row
  CheckpointError,  // writes or syncs of a checkpoint do
};
inline constexpr size_t kFaultKinds = 29;  // the number of them
std::string_view name_of(FaultKind kind);  // such as "one_way_cut"
// The kind that name_of() calls so, such as "one_way_cut"; nullopt: none.
std::optional<FaultKind> fault_named(std::string_view name);

// Planted faults of the simulator's glue. Each must be reported by its invariant; that is how the
// checks are tested.
struct Defects {
  bool written_before_durable = false;  // the disk reports a write when it is submitted
  bool forgets_vote = false;            // a crash loses the durable vote of the present term
  bool forgets_tail = false;            // a crash loses the last durable entries
  bool corrupts_entry = false;          // an append arrives with another payload and a matching sum
  bool heartbeats_echoed = false;       // a leader is confirmed by replies that were never sent
  bool clocks_beyond_bound = false;     // rates 0.5 and 1.5
  bool late_send_reading = false;       // the holder's clock is read 500 ms late when it sends
  bool restores_another = false;        // machines built from a peer's state have one key more
  bool one_machine_diverges = false;    // one replica skips commands
  bool one_state_rots = false;          // the same, and the observers ignore it: replicas must find
                                        // it themselves
  bool forgets_release = false;         // every replica skips some releases
  bool token_lowered = false;           // clients are shown an older token
  bool answer_changed = false;          // clients are shown another result than apply decided
  bool sleep_uncounted = false;         // engines do not learn that their machine slept
  bool stale_read = false;              // linearizable questions are answered from local state
  bool submits_twice = false;           // the client's commands go to the log as two requests
  bool gate_open = false;               // the protected resource lets every token pass
};

// The runs whose histories, as callers saw them, are recorded and searched for an order
// (docs/format-history.md).
enum class BlackBox : uint8_t { Sampled, Every, Never };  // Sampled: a tenth of the seeds

// By the names of the fields. False: there is no such defect.
[[nodiscard]] bool plant(Defects& defects, std::string_view name);
// All names that plant() knows, in the order of the fields.
std::vector<std::string_view> defect_names();
// The names of the defects that are set, in the same order.
std::vector<std::string_view> planted(const Defects& defects);

// Sizes that the seed draws unless they are set: how soon a replica has to be sent a state, and in
// which pieces. As the fields of EngineOptions with these names, with their legal ranges.
struct SimSizes {
  std::optional<uint64_t> checkpoint_entries = {};  // entries between two checkpoints
  std::optional<uint64_t> log_retained_bytes = {};  // of log kept behind the checkpoint
  std::optional<size_t> state_chunk_bytes = {};     // less than 256 is 256: smaller pieces take
                                                    // longer than the end of a run waits
};

// The options of a run. The same ones repeat it bit for bit.
struct SimOptions {
  uint64_t seed = 1;                                      // draws all that is not set here
  std::string profile = "swarm";                          // one of profiles()
  Duration hostile_time = std::chrono::seconds(20);       // a hint: the seed draws around it
  std::function<void(const std::string&)> on_event = {};  // gets every trace line; slow
  // Gets every line of the recorded history when the run ends; implies BlackBox::Every.
  std::function<void(std::string_view)> on_history = {};
  BlackBox black_box = BlackBox::Sampled;  // which runs record a history and search it
  bool witness = true;                     // check answers against the log; off only to see what
                                           // the black box finds alone
  // Check what holders may believe (INV_L02, L03, L10, L16). Turn it off only to see what a fence
  // still protects where clocks break their promise.
  bool watch_holders = true;
  Defects defects = {};  // default: none is planted

  // Your own part (docs/simulator.md); absent: coordkit's locks and keys alone.
  uint32_t nodes = 0;  // replicas, 1 to 9. Zero: the seed draws it
  // This many replicas found the cluster. The others run on blank disks until a change adds them,
  // at the latest when the hostile part is over. At most as many as there are replicas. Zero: all,
  // or as in the profile.
  uint32_t founders = 0;
  SimSizes sizes = {};  // default: all are drawn
  // The machines that a process hosts beside coordkit's. Called at every start, so that a script
  // may upgrade by starting again.
  std::function<std::vector<HostedMachine>(ReplicaId)> machines = {};
  // Called at every start of a process.
  std::function<std::unique_ptr<Program>(Process&)> program = {};
  // coordkit's own workers: locks, keys, sessions.
  bool built_in_work = true;
  // Called once, before anything happens.
  std::function<void(Conductor&)> script = {};
  // Called when everything has converged, once for each replica. A sentence is a violation named
  // CHECK.
  std::function<std::string(ReplicaId, const Engine&)> check = {};
  Reduction reduction = {};      // default: the run that the seed draws; shrink() finds others
  Timeline* timeline = nullptr;  // filled with the events of the run, within its limits; the run is
                                 // the same with and without it
};

// For SimOptions::machines: one machine of your own, a new one in every process.
template <typename Machine>
auto hosting(MachineId id) {
  return [id](ReplicaId) {
    std::vector<HostedMachine> machines;
    machines.push_back({id, std::make_unique<Machine>()});
    return machines;
  };
}

// The options in the form of arguments of coordkit-sim: "--replay 7 --profile leases --without
// storm,crash".
std::string replay_arguments(const SimOptions& options);

// The result of a run. Counts are of the whole run, all replicas together.
struct Report {
  uint64_t seed = 0;  // as in the options
  // Empty id: nothing was violated.
  std::string violation;
  std::string what;                            // a sentence about the violation; empty: none
  std::vector<std::string> last_events;        // the last 64 before a violation
  uint32_t nodes = 0;                          // drawn by the seed, or set by the reduction
  uint32_t workers = 0;                        // per node
  Duration hostile{};                          // planned length of that part
  Duration virtual_time{};                     // true time at the end of the run
  uint64_t events = 0;                         // that the virtual world has processed
  uint64_t turns = 0;                          // of engines
  uint64_t grants = 0;                         // of locks
  uint64_t releases = 0;                       // of locks, by their holders
  uint64_t expiries = 0;                       // of sessions
  uint64_t elections = 0;                      // terms that had a leader
  uint64_t strikes = 0;                        // faults that came up, whether or not the reduction
                                               // let them strike
  std::vector<uint64_t> struck;                // the ordinals of those that did
  uint64_t crashes = 0;                        // processes that ended, halted ones included
  uint64_t operations = 0;                     // calls of the simulated users
  uint64_t entries = 0;                        // index of the last committed entry
  uint64_t messages = 0;                       // sent between replicas, lost ones included
  uint64_t histories = 0;                      // searched by the black-box check
  uint64_t histories_undecided = 0;            // of these, given up
  uint64_t history_operations = 0;             // in these
  uint64_t installs = 0;                       // states of peers that replaced a replica's own
  std::array<uint64_t, kFaultKinds> faults{};  // that struck, by the value of FaultKind
  SituationCounts situations{};                // how often each was seen
  uint64_t trace_hash = 0;                     // of all events, in their order
};

// The names a profile option may have.
std::vector<std::string_view> profiles();

// Runs one seed to its end or to the first violation. Options that make no sense are a violation
// named OPTIONS.
Report simulate(const SimOptions& options);

}  // namespace coordkit::sim

// What a data directory at rest holds: for operators who want to know before they act, and for the programs that they run.
//
// Nothing is opened for writing and no byte of the directory changes; the directory is locked against replicas meanwhile, so
// one that is in use is refused, unless a copy of it is looked at. Files may be spoiled in any way: what can be read is
// reported, what cannot is a sentence in `problems`. Blocks; reads the whole log and the whole checkpoint, and has the state in
// memory meanwhile, as a replica has it. Threads: any. Documented in docs/backup.md; the command line is `coordctl inspect`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/log_store.h"
#include "coordkit/own_machine.h"
#include "coordkit/raft/entry.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// Entries of one term that stand next to each other in the log.
struct TermRun {
  Term term;
  Index first, last;
};

// A file of the log that is part of it.
struct SegmentReport {
  std::string file;    // its name in DIR/log
  uint64_t bytes = 0;  // of the file
  Index first, last;   // entries of the log that lie in it; zero: none, any more
};

struct LogReport {
  raft::HardState hard_state;
  Position base;  // the log starts after this entry
  Position last;  // and ends with this one, holes included
  uint64_t truncations = 0;
  std::vector<SegmentReport> segments;  // oldest first
  std::vector<TermRun> terms;
  std::vector<DamagedEntry> damaged;  // entries whose bytes rotted
  std::vector<PeerMark> peers;        // what this replica remembers of its peers' disks
};

struct CheckpointReport {
  Position applied;  // the state is the one after this entry; zero: nothing was checkpointed yet
  uint64_t rows = 0;
  uint64_t digest = 0;     // over the rows
  bool installed = false;  // it came from a peer, and nothing was committed to it since
};

// The state that a replica would have after the checkpoint and every entry of the log that follows it. The newest of these
// entries may not be committed: only a leader knows.
struct ClusterReport {
  Position at;
  ClusterId cluster;        // a secret of its members: print a hash of it instead
  uint64_t token_base = 0;  // tokens of this cluster started above it
  raft::Configuration members;
  Token last_token;              // the newest token or session id
  Revision revision, compacted;  // of the keys
  uint64_t sessions = 0, leases = 0;
  uint64_t locks = 0;   // names that are held or waited for
  uint64_t claims = 0;  // holds and waits on them
  uint64_t keys = 0;
  uint64_t objects = 0;             // records of semaphores, barriers and the like
  std::vector<MachineId> machines;  // that have state, coordkit's own first
};

struct DirectoryReport {
  std::string path;
  std::string cluster;  // its name
  ReplicaId replica;    // zero: it never had one
  StoreId store;
  BootCounter boot;
  std::optional<LogReport> log;  // absent: see `problems`
  std::optional<CheckpointReport> checkpoint;
  std::optional<ClusterReport> state;
  std::vector<std::string> problems;  // why a replica could not start on it, or what it would have to be sent by others
  std::vector<std::string> notes;     // what is worth knowing and no problem
};

struct InspectOptions {
  // Every page of the checkpoint and its digest too, not only the rows on the way to the state.
  bool verify = false;
  // A folder, such as that of temporary files, in which a copy is made, looked at and removed: for a directory that a replica
  // has open. Needs room for as much; verifies all of it, and makes up to five copies until one is of a piece. Empty: no copy.
  std::string copy_in = {};
  // The host's machines, so that their commands can be executed. Without one its rows are kept as bytes, and a log that has
  // commands of it above the checkpoint has no `state`.
  std::vector<OwnMachine> machines = {};
};

// Errors: kNotFound (no such directory), kFailedPrecondition (InUse: a replica has it open; ForeignData: not one of ours;
// NewerFormat), kDataLoss (its identity cannot be read, without which nothing else can be verified), kPermissionDenied.
absl::StatusOr<DirectoryReport> inspect_directory(const std::string& path, const InspectOptions& options = {});

}  // namespace coordkit

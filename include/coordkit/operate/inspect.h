// The contents of a data directory at rest, for operators who want to know before they act, and for
// their programs.
//
// Nothing is opened for writing, and no byte of the directory changes. The directory is locked
// against replicas meanwhile. So a directory in use is refused, unless a copy of it is inspected.
// Files may be damaged in any way: readable contents are reported, and every unreadable part is a
// sentence in `problems`. docs/backup.md has the details; the command line is `coordctl inspect`.
//
// Threads: any. It blocks, reads the whole log and the whole checkpoint, and keeps the state in
// memory meanwhile, as a replica does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/ports/log_store.h"
#include "coordkit/ports/own_machine.h"
#include "coordkit/raft/entry.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// Adjacent entries of one term in the log.
struct TermRun {
  Term term;  // of all of them
  // The first entry of the run.
  Index first, last;  // and its last one
};

// A file of the log that is part of it.
struct SegmentReport {
  std::string file;    // its name in DIR/log
  uint64_t bytes = 0;  // of the file
  // The first and the last of its entries that belong to the log; zero: none any more.
  Index first, last;  // its entries that belong to the log; zero: none any more
};

// The log of a directory.
struct LogReport {
  raft::HardState hard_state;           // of the replica, as last made durable
  Position base;                        // the log starts after this entry
  Position last;                        // and ends with this one, holes included
  uint64_t truncations = 0;             // and resets, since the store was made
  std::vector<SegmentReport> segments;  // oldest first
  std::vector<TermRun> terms;           // oldest first; rotted entries included
  std::vector<DamagedEntry> damaged;    // entries whose bytes rotted
  std::vector<PeerMark> peers;          // this replica's memory of its peers' disks
};

// The checkpoint of a directory.
struct CheckpointReport {
  Position applied;        // the state right after this entry; zero: nothing was checkpointed yet
  uint64_t rows = 0;       // in all tables, of all machines
  uint64_t digest = 0;     // over the rows
  bool installed = false;  // it came from a peer, and nothing was committed to it since
};

// The state that a replica would have after the checkpoint and every later entry of the log. The
// newest of these entries may not be committed: only a leader knows.
struct ClusterReport {
  Position at;                  // the entry that made the state what it is
  ClusterId cluster;            // a secret of its members: print a hash of it instead
  uint64_t token_base = 0;      // tokens of this cluster started above it
  raft::Configuration members;  // the configuration in force at that entry
  Token last_token;             // the newest token or session id
  // The newest revision of the keys, and the one up to which they were compacted.
  Revision revision, compacted;  // of the keys
  // Sessions that have not ended.
  uint64_t sessions = 0, leases = 0;  // of keys, apart from sessions
  uint64_t locks = 0;                 // names that are held or waited for
  uint64_t claims = 0;                // holds and waits on them
  uint64_t keys = 0;                  // with a value now
  uint64_t objects = 0;               // records of semaphores, barriers and the like
  std::vector<MachineId> machines;    // the machines that have state, coordkit's own first
};

// The findings of inspect_directory().
struct DirectoryReport {
  std::string path;              // as it was given
  std::string cluster;           // its name
  ReplicaId replica;             // zero: it never had one
  StoreId store;                 // drawn when the directory was made
  BootCounter boot;              // how often it was opened by a replica
  std::optional<LogReport> log;  // absent: see `problems`
  // Each of these is absent if `problems` or `notes` say why.
  std::optional<CheckpointReport> checkpoint;
  std::optional<ClusterReport> state;
  std::vector<std::string> problems;  // why a replica could not start on it, or which parts others
                                      // would have to send
  std::vector<std::string> notes;     // worth knowing, but no problem
};

// How thoroughly, and with which machines, a directory is inspected.
struct InspectOptions {
  // Verifies every page of the checkpoint and its digest too, not only the rows on the way to the
  // state.
  bool verify = false;
  // A folder, such as the one of temporary files. A copy is made in it, inspected and removed. Use
  // it for a directory that a replica has open. It needs as much room as the directory, and all of
  // the copy is verified. Up to five copies are made until one is consistent. Empty: no copy.
  std::string copy_in = {};
  // The host's machines, so that their commands can be executed. Without a machine its rows are
  // kept as bytes, and a log with commands for it above the checkpoint has no `state`.
  std::vector<OwnMachine> machines = {};
};

// Errors: kNotFound (no such directory), kPermissionDenied.
// kFailedPrecondition: InUse (a replica has it open), ForeignData (not one of ours), NewerFormat.
// kDataLoss: its identity cannot be read, and without that nothing else can be verified.
absl::StatusOr<DirectoryReport> inspect_directory(const std::string& path, const InspectOptions& options = {});

}  // namespace coordkit

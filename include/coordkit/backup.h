// Backups: the whole state of a cluster in one file, and new clusters made of one, or of what a lost majority left behind.
//
// A backup holds one consistent state with its own sums (docs/format-backup.md). What is restored is a NEW cluster: a new id,
// new directories, the members you name; no replica of the previous cluster can join it by accident. Tokens and session ids of
// it begin above every one that the previous cluster can have granted, revisions above every one it can have reached, and
// readers of earlier revisions end with Compacted. Sessions come along and end by their own TTL, because nothing renews them;
// until then they hold what they held (docs/decisions/0026).
//
// A replica at work is backed up by Replica::backup().
//
// Threads: any; every function blocks, and has the whole state in memory. Nothing that is read is changed; what is written
// appears under its name only when it is whole and durable. Bytes are believed only after their sums. Damage is kDataLoss with
// a sentence that says what and where. Runbooks: docs/backup.md. The command line is `coordctl`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/own_machine.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// What a backup is of.
struct BackupInfo {
  std::string cluster;  // its name
  ReplicaId replica;    // whose directory it was made of
  StoreId store;
  Position applied;  // the state is the one after exactly this entry
  uint64_t rows = 0;
  uint64_t bytes = 0;  // of the file
  Token last_token;    // the newest token or session id in the state
  Revision revision;   // of the keys
};

struct BackupOptions {
  // The host's machines: needed if the log has commands of them above the checkpoint. Rows of machines that are not given are
  // copied as they are.
  std::vector<OwnMachine> machines = {};
  // Asked before the file is begun, and with each MiB that is written; false ends the call with kCancelled.
  std::function<bool()> awaited = {};
};

// Makes a backup of a directory that no replica has open: the checkpoint and every entry of the log after it, committed or not.
// Errors: as inspect_directory(); kDataLoss (checkpoint or log are damaged; take another member), kFailedPrecondition
// (MachineMissing: pass the host's machines; InUse: another backup to `file` is being made), kAlreadyExists (`file`),
// kInvalidArgument (in a data directory), kResourceExhausted (disk full). Nothing is left of one that failed.
absl::StatusOr<BackupInfo> backup_directory(const std::string& directory, const std::string& file,
                                            const BackupOptions& options = {});

// Reads a backup from end to end and verifies all of it. kDataLoss: damaged or cut short. kFailedPrecondition: no backup
// (ForeignData), or one of a newer version (NewerFormat).
absl::StatusOr<BackupInfo> check_backup(const std::string& file);

// One replica of the cluster to be made.
struct NewMember {
  uint64_t id = 0;        // 1 and up, unique
  std::string address;    // "host:port", unique; for a transport of your own any text
  std::string directory;  // is made; must not exist, or be empty. Move it to where that replica runs
};

struct RestoreOptions {
  std::vector<NewMember> members = {};  // the voters of the new cluster; more can join later. Legal: 1 to 64
  std::string cluster = {};             // its name. Empty: as before
  // Tokens and session ids begin above it. Zero: the calendar, as with every new cluster, which is above what the
  // former one can have granted as long as this machine's clock is right. Legal: at least the backup's last token, and below
  // 2^63 - 2^56.
  uint64_t token_base = 0;
  // How many revisions the previous cluster can have made since the state that is restored; the new one begins behind them.
  // Legal: 2 to 2^62, and the revision must stay below 2^63.
  uint64_t revisions_skipped = uint64_t{1} << 40;
};

struct RestoreReport {
  std::string cluster;
  Position applied;             // the new cluster's log begins after it
  std::vector<StoreId> stores;  // of the members, in their order
  uint64_t token_base = 0;
  Revision revision;  // of the keys; compacted up to it
  uint64_t rows = 0;
};

// Makes the directories of a new cluster, once for all its members: each call makes another cluster, whose replicas do not hear
// those of the one before. Start each replica on its own, with the members and the cluster's name. Errors:
// as check_backup(); kInvalidArgument (members; a token base that is not above what was granted, with what the clock says),
// kAlreadyExists (a directory that is not empty), kNotFound (its parent), kResourceExhausted. No directory is left of one
// that failed.
absl::StatusOr<RestoreReport> restore_backup(const std::string& file, const RestoreOptions& options);

// One directory that recover_directories() looked at.
struct SurvivorReport {
  std::string path;
  ReplicaId replica;
  StoreId store;
  Position certain;     // of its checkpoint: committed for sure
  Position last;        // of the newest entry up to which its log can be used
  std::string problem;  // why it cannot be used, or not all of it; empty: none
  bool usable = false;
};

struct RecoverOptions {
  RestoreOptions restore = {};
  std::vector<OwnMachine> machines = {};  // as in BackupOptions
  // Says that writes which were acknowledged may be lost. Without it nothing is written: see what the report says first.
  bool accept_loss = false;
};

struct RecoverReport {
  std::vector<SurvivorReport> survivors;  // in the order they were given
  size_t chosen = 0;                      // of `survivors`
  uint64_t voters = 0;                    // of the configuration that the chosen one has; while members change, of both halves
  uint64_t found = 0;                     // of these, whose directories were given and could be used
  std::vector<std::string> losses;        // what may be lost, and what is lost for certain, in sentences
  std::optional<RestoreReport> made;      // absent: accept_loss was not set
};

// Makes a new cluster of the best of these directories, whose log ends last in the order by which votes compare logs. For when
// a majority is gone for good: stop all that is left first. The directories given are not changed; keep them. Errors: as
// backup_directory(), of each but damage, and restore_backup(); kInvalidArgument (none, or directories of different clusters),
// kAborted (Conflict: a majority of the voters is here: start them, nothing is lost), kDataLoss (none can be used).
absl::StatusOr<RecoverReport> recover_directories(const std::vector<std::string>& directories, const RecoverOptions& options);

}  // namespace coordkit

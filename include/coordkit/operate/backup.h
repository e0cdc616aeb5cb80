// Backups: the whole state of a cluster in one file. New clusters are made from a backup, or from
// the directories that a lost majority left behind.
//
// A backup holds one consistent state with its own checksums (docs/format-backup.md). Restoring
// makes a NEW cluster: it has a new id, new directories and the members you name. No replica of the
// previous cluster can join it by accident. Its tokens and session ids begin above every one that
// the previous cluster can have granted. Its revisions begin above every one that the previous
// cluster can have reached, and readers of earlier revisions end with Compacted. Sessions are
// restored too. They expire by their own TTL because nothing renews them; until then they hold what
// they held (docs/decisions/0026).
//
// Replica::backup() backs up a replica that is running. Runbooks: docs/backup.md. The command line
// is `coordctl`.
//
// Threads: any. Every function blocks, and keeps the whole state in memory.
// Errors: no function changes the files that it reads. A file that is written appears under its
// name only when it is whole and durable. Bytes are believed only after their checksums. Damage is
// kDataLoss with a sentence that says what is damaged and where.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/ports/own_machine.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// Describes the contents of a backup.
struct BackupInfo {
  std::string cluster;  // its name
  ReplicaId replica;    // whose directory it was made from
  StoreId store;        // of that directory
  Position applied;     // the state is the one right after this entry
  uint64_t rows = 0;    // in the state
  uint64_t bytes = 0;   // of the file
  Token last_token;     // the newest token or session id in the state
  Revision revision;    // of the keys
};

// How a backup is made.
struct BackupOptions {
  // The host's machines. They are needed if the log has commands for them above the checkpoint.
  // Rows of machines that are not given are copied unchanged.
  std::vector<OwnMachine> machines = {};
  // Called before the file is begun, and with each MiB that is written. False ends the call with
  // kCancelled.
  std::function<bool()> awaited = {};
};

// Makes a backup of a directory that no replica has open: the checkpoint and every entry of the log
// after it, committed or not. A failed backup leaves nothing behind.
// Errors: as inspect_directory().
// kDataLoss: the checkpoint or the log is damaged; use another member.
// kFailedPrecondition: MachineMissing (pass the host's machines), InUse (another backup to `file`
// is being made).
// kAlreadyExists: `file` exists. kInvalidArgument: `file` is in a data directory.
// kResourceExhausted: the disk is full.
absl::StatusOr<BackupInfo> backup_directory(const std::string& directory, const std::string& file,
                                            const BackupOptions& options = {});

// Reads a backup from end to end and verifies all of it. kDataLoss: it is damaged or cut short.
// kFailedPrecondition: it is no backup (ForeignData), or has a newer version (NewerFormat).
absl::StatusOr<BackupInfo> check_backup(const std::string& file);

// One replica of the new cluster.
struct NewMember {
  uint64_t id = 0;        // 1 and up, unique
  std::string address;    // "host:port", unique; any text for a transport of your own
  std::string directory;  // created; must not exist, or be empty. Move it to the machine of that
                          // replica
};

// The new cluster that is to be made of a backup.
struct RestoreOptions {
  std::vector<NewMember> members = {};  // the voters of the new cluster; more can join later.
                                        // Legal: 1 to 64
  std::string cluster = {};             // its name. Empty: unchanged
  // Tokens and session ids begin above it. Zero: use the calendar, as every new cluster does. That
  // is above every token that the previous cluster can have granted as long as this machine's clock
  // is right. Legal: at least the backup's last token, and below 2^63 - 2^56.
  uint64_t token_base = 0;
  // How many revisions the previous cluster can have made since the restored state. The new cluster
  // begins behind them. Legal: 2 to 2^62, and the revision must stay below 2^63.
  uint64_t revisions_skipped = uint64_t{1} << 40;
};

// The new cluster as it was made.
struct RestoreReport {
  std::string cluster;          // its name
  Position applied;             // the new cluster's log begins after it
  std::vector<StoreId> stores;  // of the members, in their order
  uint64_t token_base = 0;      // as used: its tokens and session ids begin above it
  Revision revision;            // of the keys; compacted up to it
  uint64_t rows = 0;            // in the state of every member
};

// Makes the directories of a new cluster, once for all its members. Each call makes another
// cluster, whose replicas ignore those of earlier calls. Start each replica on its own directory,
// with the members and the cluster's name. A failed call leaves no directory behind.
// Errors: as check_backup().
// kInvalidArgument: the members, or a token base that is not above every granted token; the
// sentence says what the clock gives.
// kAlreadyExists: a directory is not empty. kNotFound: its parent is missing. kResourceExhausted.
absl::StatusOr<RestoreReport> restore_backup(const std::string& file, const RestoreOptions& options);

// One directory that recover_directories() examined.
struct SurvivorReport {
  std::string path;     // as it was given
  ReplicaId replica;    // zero: not known
  StoreId store;        // of that directory; zero: not known
  Position certain;     // of its checkpoint: committed for certain
  Position last;        // of the newest entry up to which its log can be used
  std::string problem;  // why it cannot be used, or only partly; empty: none
  bool usable = false;  // whether its state could be read at all
};

// How directories are recovered.
struct RecoverOptions {
  // The cluster that is to be made. Checked only with accept_loss.
  RestoreOptions restore = {};
  std::vector<OwnMachine> machines = {};  // as in BackupOptions
  // Accepts that acknowledged writes may be lost. Without it nothing is written: read the report
  // first.
  bool accept_loss = false;
};

// The findings and actions of recover_directories().
struct RecoverReport {
  std::vector<SurvivorReport> survivors;  // in the order they were given
  size_t chosen = 0;                      // of `survivors`
  uint64_t voters = 0;                    // in the chosen one's configuration; in both halves while
                                          // members change
  uint64_t found = 0;                     // those of `voters` whose directories were given and
                                          // could be used
  std::vector<std::string> losses;        // what may be lost, and what is lost for certain, in
                                          // sentences
  std::optional<RestoreReport> made;      // absent: accept_loss was not set
};

// Makes a new cluster from the best of these directories: the one whose log ends last in the order
// by which votes compare logs. Use it when a majority is gone for good, and stop every remaining
// replica first. The given directories are not changed; keep them.
// Errors: as backup_directory() for each directory, except damage; as restore_backup().
// kInvalidArgument: there is no directory, or they belong to different clusters.
// kAborted (Conflict): a majority of the voters is here. Start them; nothing is lost.
// kDataLoss: no directory can be used.
absl::StatusOr<RecoverReport> recover_directories(const std::vector<std::string>& directories, const RecoverOptions& options);

}  // namespace coordkit

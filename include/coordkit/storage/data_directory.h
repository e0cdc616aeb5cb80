// The data directory of one replica: its identity, and a lock that keeps other processes out.
//
// It holds a random store id made once, a boot counter that every open raises durably, and the
// cluster's name. It is locked with flock until the last reference is gone. Files: `identity`
// (docs/format-log.md), `has-log`, `reserve`, `log/` and `state/`. Nothing is touched before it is
// known that the directory is ours.
//
// A start writes a new identity and a segment. `reserve` keeps that much room while the disk has
// it, so that a replica can start on a full disk and serve its data. An open that finds less room
// releases it.
//
// Threads: all methods are thread-safe; share it between the stores of one replica.
// Example: tests/unit/storage/data_directory_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// Which directory to open, and whose it is.
struct DataDirectoryOptions {
  std::string path;     // created if its parent exists; a relative path is resolved at the open
  std::string cluster;  // 1 to 255 bytes; stored at the first open, must be the same at every later
                        // one
  ReplicaId replica;    // the same; zero: any
};

class DataDirectory {
 public:
  // Opens, locks and raises the boot counter; may block. kInvalidArgument: options. kNotFound: no
  // parent. kPermissionDenied. kResourceExhausted: no space. kFailedPrecondition: open elsewhere,
  // of another cluster or replica, foreign files, newer format; nothing was changed. kDataLoss: the
  // identity is unreadable.
  static absl::StatusOr<std::shared_ptr<DataDirectory>> open(const DataDirectoryOptions& options);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  const std::string& path() const { return options_.path; }        // absolute
  std::string log_path() const { return options_.path + "/log"; }  // of the built-in log; it exists
  // For the built-in checkpoints. It exists.
  std::string state_path() const { return options_.path + "/state"; }
  StoreId store() const { return store_; }    // drawn at the first open
  BootCounter boot() const { return boot_; }  // of this open: 1 at the first one
  // kDataLoss: path() names another directory by now, or no directory.
  absl::Status still_there() const;
  // There was a log with entries here when this was opened. If there is none now, it was lost.
  bool had_log() const { return had_log_; }
  // Records that there is a log from now on: durable on return, in a file beside the log.
  // kResourceExhausted: not yet, retry.
  absl::Status note_log() const;
  // Makes the reserve again if it is missing or incomplete; durable on return. kResourceExhausted:
  // the disk has no room.
  absl::Status keep_reserve() const;

 private:
  struct Lock;
  DataDirectory(DataDirectoryOptions options, std::unique_ptr<Lock> lock, StoreId store, BootCounter boot, bool had_log);

  const DataDirectoryOptions options_;
  const std::unique_ptr<Lock> lock_;
  const StoreId store_;
  const BootCounter boot_;
  const bool had_log_;
};

}  // namespace coordkit

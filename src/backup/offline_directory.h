// A data directory that no process has open, as its files describe it: identity, log and checkpoint, each with its errors. It
// is read only, under a lock that keeps replicas away as long as this object lives.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/ports/log_store.h"
#include "log/recovery.h"
#include "storage/identity.h"
#include "storage/posix_file_system.h"
#include "storage/state/offline_checkpoint.h"

namespace coordkit::backup {

class OfflineDirectory {
 public:
  // The commands that come with their payloads: all, or those that the checkpoint does not cover.
  enum class Payloads : uint8_t { All, AboveCheckpoint };

  // kNotFound, kPermissionDenied, kFailedPrecondition (in use, foreign, newer), kDataLoss (the identity).
  static absl::StatusOr<std::unique_ptr<OfflineDirectory>> open(const std::string& path, Payloads payloads);

  const std::string& path() const { return path_; }
  const storage::Identity& identity() const { return identity_; }
  bool had_log() const { return had_log_; }
  const absl::StatusOr<log::Recovery>& log() const { return log_; }
  const absl::StatusOr<std::unique_ptr<storage::OfflineCheckpoint>>& checkpoint() const { return checkpoint_; }

  // The log as an engine receives it. Call it only if log() is ok.
  RecoveredLog recovered() const;

 private:
  OfflineDirectory(std::string path, std::unique_ptr<storage::PosixFileSystem> lock, storage::Identity identity)
      : path_(std::move(path)), lock_(std::move(lock)), identity_(std::move(identity)) {}
  absl::Status read(Payloads payloads);

  const std::string path_;
  const std::unique_ptr<storage::PosixFileSystem> lock_;
  const storage::Identity identity_;
  bool had_log_ = false;
  absl::StatusOr<log::Recovery> log_;
  absl::StatusOr<std::unique_ptr<storage::OfflineCheckpoint>> checkpoint_;
};

}  // namespace coordkit::backup

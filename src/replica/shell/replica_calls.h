// The calls that only a replica has, beside those of every service (service/shell/host.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/operate/backup.h"
#include "coordkit/replica.h"

namespace coordkit {

class ReplicaCalls {
 public:
  virtual ~ReplicaCalls() = default;

  // ---- called inside a call
  virtual Ticket change_members(const MembershipChange& change, MembershipOptions options, Callback<Index> done) = 0;
  virtual Ticket transfer_leadership(std::optional<uint64_t> target, Duration timeout, DoneCallback done) = 0;

  // ---- on the caller's thread
  virtual absl::Status scrub_now(absl::FunctionRef<bool()> awaited) = 0;
  virtual absl::StatusOr<BackupInfo> backup(const std::string& file, LiveBackupOptions options) = 0;
  virtual absl::Status reload_tls() = 0;
};

// Makes the public handle, whose constructor is its own.
struct ReplicaAccess {
  static Replica replica(std::shared_ptr<Host> host, ReplicaCalls& calls) { return {std::move(host), calls}; }
  static std::unique_ptr<Replica> new_replica(std::shared_ptr<Host> host, ReplicaCalls& calls) {
    return std::unique_ptr<Replica>(new Replica(std::move(host), calls));
  }
};

}  // namespace coordkit

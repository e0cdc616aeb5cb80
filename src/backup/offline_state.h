// The state that a replica would reach from a directory at rest. It is the checkpoint, and every entry of the log after it,
// executed by the machines themselves. The newest entries may be uncommitted; only a leader knows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backup/offline_directory.h"
#include "coordkit/ports/own_machine.h"
#include "engine/apply/router.h"
#include "machine/machine.h"

namespace coordkit::backup {

struct OfflineState {
  std::unique_ptr<engine::Router> router;
  const machine::Machine* coordination = nullptr;  // of the router
  Position certain;                                // of the checkpoint: committed
  std::vector<DamagedEntry> holes;                 // above the checkpoint; the state ends before the first of them
  // How far the log is known to have reached, if it lost entries: now, or before an earlier start.
  std::optional<Position> floor;
  std::vector<PeerMark> peers;

  Position at() const { return router->applied(); }
  const raft::Configuration& configuration() const { return router->configuration(); }
};

// kNotFound: the directory is blank, it never had a cluster. kDataLoss: log or checkpoint cannot be used, or not together.
// kFailedPrecondition (MachineMissing): above the checkpoint, the log has commands of a machine that is not among `machines`.
absl::StatusOr<OfflineState> state_of(const OfflineDirectory& directory, const std::vector<OwnMachine>& machines);

}  // namespace coordkit::backup

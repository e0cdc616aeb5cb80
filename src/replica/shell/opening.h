// How a replica starts: the directory is locked, the log recovered, the checkpoint read, and only then do others
// learn of it. Every step that fails undoes the earlier ones by going out of scope; nothing on disk is lost.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/replica.h"
#include "replica/shell/running_host.h"

namespace coordkit {

// This replica's report about the settings that must be equal on all replicas.
Agreement agreement_of(const ReplicaOptions& options);

// Fresh ones: coordkit's own and those of the host's factories.
absl::StatusOr<std::vector<HostedMachine>> make_machines(const std::vector<OwnMachine>& own);

absl::StatusOr<std::shared_ptr<RunningHost>> open_host(ReplicaOptions options);

}  // namespace coordkit

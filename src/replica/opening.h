// How a replica comes up: the directory is locked, the log recovered, the checkpoint read, and only then does anybody else
// hear of it. Every step that fails undoes the steps before by going out of scope; nothing on disk is lost.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "coordkit/replica.h"
#include "replica/host.h"

namespace coordkit {

// What this replica says that it was told of what all must be told alike.
Agreement agreement_of(const ReplicaOptions& options);

absl::StatusOr<std::shared_ptr<Host>> open_host(ReplicaOptions options);

}  // namespace coordkit

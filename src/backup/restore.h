// New clusters, from a backup or from a given state. The public calls (coordkit/operate/backup.h) add the facts that only door
// 1 may know: the calendar and a random id.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/row_map.h"
#include "coordkit/operate/backup.h"
#include "coordkit/types.h"

namespace coordkit::backup {

// The faults of the members and the name, as one sentence; kInvalidArgument.
absl::Status validate(const RestoreOptions& options);

// The state from which a cluster is made: its rows, and the backup's statements about it.
struct PreviousState {
  RowsByKey rows;
  Position applied;
  std::string cluster;  // its name
};

// `options.token_base` must be set.
absl::StatusOr<RestoreReport> make_cluster(PreviousState state, const RestoreOptions& options, ClusterId id);

absl::StatusOr<RestoreReport> restore(const std::string& file, const RestoreOptions& options, ClusterId id);
absl::StatusOr<RecoverReport> recover(const std::vector<std::string>& directories, const RecoverOptions& options, ClusterId id);

}  // namespace coordkit::backup

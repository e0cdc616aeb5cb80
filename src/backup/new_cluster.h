// Turns the rows of an old cluster's state into those of a new one (docs/decisions/0026).
//
// It changes the cluster's id, its genesis and its members, and the counter of tokens and session ids. It also raises the
// revision of the keys and compacts all their history up to there. It keeps every machine's state, and the place in the log.
// So no entry of the new cluster has the number of an entry that the state remembers. Nor can a member catch up from a log
// that lacks the state.
#pragma once

#include "absl/status/statusor.h"
#include "base/row_map.h"
#include "coordkit/raft/entry.h"
#include "coordkit/types.h"

namespace coordkit::backup {

struct NewCluster {
  raft::Genesis genesis;
  uint64_t revisions_skipped = 0;
};

// The fault of the new cluster for this state: kInvalidArgument, in a sentence.
absl::Status check_new_cluster(const NewCluster& cluster, Token last_token, Revision revision);

// Changes `rows`, the whole state at `applied`. Returns the new revision of the keys. kDataLoss: the rows are inconsistent,
// and must no longer be used.
absl::StatusOr<Revision> make_new_cluster(RowsByKey& rows, Position applied, const NewCluster& cluster);

}  // namespace coordkit::backup

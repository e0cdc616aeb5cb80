// The room that the keys take, and the limit of it: one setting for the whole cluster, part of the replicated state.
//
//   KeySpace space(*replica);
//   space.set_quota(uint64_t{1} << 30);
//
// At the quota every put, and every transaction that may put, is refused with kResourceExhausted (NoSpace) before anything is
// done; deletes, compactions, leases, sessions and locks go on. The refusals end by themselves when a compaction has made
// room; there is no alarm to clear. A new cluster has no quota. The first refusal is that of the replica that was asked, from
// what it knows: after a change on another one, an info() here makes sure that it knows.
// Threads: all methods are thread-safe; they block. Lifetime: may outlive the replica; then every call is kFailedPrecondition.
#pragma once

#include <memory>

#include "coordkit/client/keys.h"
#include "coordkit/export.h"
#include "coordkit/replica.h"

namespace COORDKIT_EXPORT coordkit {

class KeySpace {
 public:
  explicit KeySpace(const Replica& replica);
  KeySpace(const KeySpace&) = default;  // one that was moved from is as before
  KeySpace& operator=(const KeySpace&) = default;

  // Bytes; zero: no limit. One below what the keys weigh refuses puts until they weigh less; it deletes nothing.
  absl::StatusOr<QuotaResult> set_quota(uint64_t bytes, ProposeOptions options = {});
  absl::StatusOr<KeySpaceInfo> info(QueryOptions options = {}) const;

 private:
  std::shared_ptr<class Host> host_;
};

}  // namespace coordkit

// The room that the keys take, and its limit: one setting for the whole cluster, part of the
// replicated state.
//
//   KeySpace space(*replica);
//   space.set_quota(uint64_t{1} << 30);
//
// At the quota every put, and every transaction that may put, is refused with kResourceExhausted
// (NoSpace) before anything is done. Deletes, compactions, leases, sessions and locks are not
// affected. The refusals end automatically when a compaction has made room; there is no alarm to
// clear. A new cluster has no quota. The first refusal comes from the replica that was asked, by
// its own knowledge. After a change on another replica, an info() here makes sure that this replica
// knows.
//
// Threads: all methods are thread-safe; they block.
// Lifetime: may outlive the replica. Then every call is kFailedPrecondition.
#pragma once

#include <memory>

#include "coordkit/client/keys.h"
#include "coordkit/export.h"
#include "coordkit/service.h"

namespace COORDKIT_EXPORT coordkit {

class KeySpace {
 public:
  // The room of the keys, as this replica serves it.
  explicit KeySpace(const Service& service);
  KeySpace(const KeySpace&) = default;  // a moved-from object is unchanged
  KeySpace& operator=(const KeySpace&) = default;

  // Bytes; zero: no limit. A quota below the present weight of the keys refuses puts until they
  // weigh less; it deletes nothing.
  absl::StatusOr<QuotaResult> set_quota(uint64_t bytes, ProposeOptions options = {});
  absl::StatusOr<KeySpaceInfo> info(QueryOptions options = {}) const;  // weight, quota and revisions

 private:
  std::shared_ptr<class Host> host_;
};

}  // namespace coordkit

// The permissions of remotes, processes without a replica: a list for each name, in the replicated
// state (docs/remote.md).
//
//   Permissions permissions(*replica);
//   permissions.set("billing", {{"orders/", Right::Read}, {"orders/", Right::Lock}});
//
// A remote has the name in RemoteOptions::name. Where its link proves no name, as with one secret
// for all remotes, the name is as good as that secret. A remote without a list of its own has that
// of the empty name. If there is none either, it may do everything except administer. Members are
// not restricted.
//
// Threads: all methods are thread-safe; they block.
// Lifetime: may outlive the replica. Then every call is kFailedPrecondition.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/client/permission_calls.h"
#include "coordkit/export.h"
#include "coordkit/service.h"

namespace COORDKIT_EXPORT coordkit {

class Permissions {
 public:
  // The permissions, as this replica or remote serves them.
  explicit Permissions(const Service& service);
  Permissions(const Permissions&) = default;  // a moved-from object is unchanged
  Permissions& operator=(const Permissions&) = default;

  // Replaces the list of a remote. An empty name: that of all remotes that have none of their own.
  // An empty list: it may do nothing. In force from the entry in the answer on, on every replica.
  // kInvalidArgument (name), kResourceExhausted (256 entries, prefixes of 1,024 bytes, 4,096
  // lists), kPermissionDenied (a remote that may not administer every name). kUnimplemented: the
  // cluster is below feature level 7.
  absl::StatusOr<PermissionsResult> set(std::string remote, std::vector<Permission> list,
                                        Duration timeout = std::chrono::seconds(10));
  // From here on the remote has no list of its own. kNotFound: it has none.
  absl::StatusOr<PermissionsResult> remove(std::string remote, Duration timeout = std::chrono::seconds(10));
  // All lists, ascending by name.
  absl::StatusOr<std::vector<RemotePermissions>> list(Duration timeout = std::chrono::seconds(10)) const;

 private:
  std::shared_ptr<class Host> host_;
};

}  // namespace coordkit

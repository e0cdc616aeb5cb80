// The permissions of remotes as asynchronous calls: one side of a Client, made by
// Client::permissions() and valid as long as that Client. docs/remote.md has the rights that each
// call needs. The Client's rules for callbacks, deadlines and outcomes apply.
#pragma once

#include <string>
#include <vector>

#include "coordkit/client/client_options.h"
#include "coordkit/client/handles.h"
#include "coordkit/export.h"
#include "coordkit/records.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

class Client;

// The answer of set() and remove().
struct PermissionsResult {
  Index index;  // of the entry: from it on the list is in force, on every replica
};
// The answer of list().
struct PermissionsPage {
  std::vector<RemotePermissions> remotes;  // ascending by name
  bool more = false;                       // lists are left, behind the last one
  Index as_of;                             // the applied state that was read
};

// The calls. Made by Client::permissions().
class PermissionCalls {
 public:
  explicit PermissionCalls(Client& client) : client_(&client) {}  // `client` outlives it

  // Replaces the list of a remote. An empty name: that of all remotes that have none of their own.
  // An empty list: it may do nothing. InvalidArgument (name), LimitExceeded (256 entries, prefixes
  // of 1,024 bytes, 4,096 lists), PermissionDenied. Unsupported: the cluster is below feature level
  // 7.
  CallId set(std::string remote, std::vector<Permission> list, Callback<PermissionsResult> done, CallDeadline deadline = {});
  // From here on the remote has no list of its own. NotFound: it has none; the others as set().
  CallId remove(std::string remote, Callback<PermissionsResult> done, CallDeadline deadline = {});
  // The lists from the name `first` on, as many as one answer holds. Linearizable.
  CallId list(std::string first, Callback<PermissionsPage> done, CallDeadline deadline = {});

 private:
  Client* client_;
};

}  // namespace coordkit

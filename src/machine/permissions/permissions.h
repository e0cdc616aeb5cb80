// The lists of permissions of remotes (docs/remote.md, S-70): a part of the replicated state. A list says what the remote of a
// name may do. The list of the empty name is for all remotes that have no list of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "coordkit/records.h"
#include "coordkit/types.h"
#include "machine/objection.h"

namespace coordkit::machine {

// Limits; part of the replicated behaviour.
inline constexpr size_t kPermissionsMax = 256;  // of one list
inline constexpr size_t kPermissionListsMax = 4096;
inline constexpr size_t kPermissionPrefixMax = 1024;

// Gives a remote another list, or none of its own. Needs feature level 7.
struct SetPermissions {
  std::string remote;
  std::vector<Permission> list;            // empty: it may do nothing
  bool remove = false;                     // from here on it has no list of its own
  static constexpr uint32_t kField = 110;  // among Request's fields, never reused
  static constexpr auto fields() {
    using S = SetPermissions;
    return std::tuple(&S::remote, &S::list, &S::remove);
  }
  friend bool operator==(const SetPermissions&, const SetPermissions&) = default;
};
Objection check(const SetPermissions& set);

class Permissions {
 public:
  // False: there are too many lists.
  bool set(std::string_view remote, std::vector<Permission> list, Index by);
  bool remove(std::string_view remote);  // false: it has none
  // That of the remote, else that of all without one. Null: neither is there.
  const std::vector<Permission>* list_for(std::string_view remote) const;
  // Ascending by name, from the first one above `after`, or from the first of all; until `visit` says false.
  void each(std::string_view first, absl::FunctionRef<bool(std::string_view, const std::vector<Permission>&)> visit) const;
  size_t size() const { return lists_.size(); }

  // Checkpoint: one row for each list, under the index of the entry that made it.
  void collect(absl::FunctionRef<void(Index, const RemotePermissions&)> put, absl::FunctionRef<void(Index)> erase);
  void forget_stored();  // the next collect() puts every row
  absl::Status restore(Index row, RemotePermissions list);

  uint64_t digest() const { return digest_; }  // a sum over the lists: zero without one
  uint64_t recomputed_digest() const;

 private:
  struct List {
    Index row;
    std::vector<Permission> permissions;
  };
  std::map<std::string, List, std::less<>> lists_;
  absl::btree_set<std::string> dirty_;  // changed since the last collect()
  absl::btree_set<Index> stored_;       // rows of the checkpoint
  absl::btree_set<Index> erased_;       // rows that are gone since the last collect()
  uint64_t digest_ = 0;
};

}  // namespace coordkit::machine

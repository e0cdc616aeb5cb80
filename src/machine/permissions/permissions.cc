#include "machine/permissions/permissions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/remote_name.h"
#include "base/sums.h"

namespace coordkit::machine {
namespace {

uint64_t list_hash(std::string_view remote, Index row, const std::vector<Permission>& list) {
  uint64_t hash = hash_mix(hash_bytes(remote, 0x7065726d), row.value());
  for (const Permission& one : list) hash = hash_mix(hash, hash_bytes(one.prefix, static_cast<uint64_t>(one.right)));
  return hash;
}

bool known(Right right) { return right >= Right::Read && right <= Right::Admin; }

}  // namespace

Objection check(const SetPermissions& set) {
  if (!set.remote.empty() && !is_remote_name(set.remote)) {
    return invalid("the name of the remote is not valid: give up to 64 letters, digits and \". _ - / @ :\"");
  }
  if (set.remove && !set.list.empty()) return invalid("a list that is removed has no entries; leave them out");
  if (set.list.size() > kPermissionsMax) {
    return {ResultCode::LimitExceeded, absl::StrCat("a list has at most ", kPermissionsMax, " entries")};
  }
  for (const Permission& one : set.list) {
    if (!known(one.right)) return {ResultCode::Unsupported};
    if (Objection size = check_size("prefix", one.prefix.size(), kPermissionPrefixMax); !size.none()) return size;
  }
  return {};
}

bool Permissions::set(std::string_view remote, std::vector<Permission> list, Index by) {
  auto found = lists_.find(remote);
  if (found == lists_.end()) {
    if (lists_.size() >= kPermissionListsMax) return false;
    found = lists_.emplace(std::string(remote), List{by, {}}).first;
  } else {
    digest_ -= list_hash(remote, found->second.row, found->second.permissions);
  }
  found->second.permissions = std::move(list);
  digest_ += list_hash(remote, found->second.row, found->second.permissions);
  dirty_.insert(found->first);
  return true;
}

bool Permissions::remove(std::string_view remote) {
  const auto found = lists_.find(remote);
  if (found == lists_.end()) return false;
  const List& list = found->second;
  digest_ -= list_hash(remote, list.row, list.permissions);
  if (stored_.erase(list.row) != 0) erased_.insert(list.row);
  dirty_.erase(found->first);
  lists_.erase(found);
  return true;
}

const std::vector<Permission>* Permissions::list_for(std::string_view remote) const {
  auto found = lists_.find(remote);
  if (found == lists_.end()) found = lists_.find("");
  return found == lists_.end() ? nullptr : &found->second.permissions;
}

void Permissions::each(std::string_view first,
                       absl::FunctionRef<bool(std::string_view, const std::vector<Permission>&)> visit) const {
  for (auto at = lists_.lower_bound(first); at != lists_.end(); ++at) {
    if (!visit(at->first, at->second.permissions)) return;
  }
}

void Permissions::collect(absl::FunctionRef<void(Index, const RemotePermissions&)> put, absl::FunctionRef<void(Index)> erase) {
  for (const Index row : std::exchange(erased_, {})) erase(row);
  for (const std::string& remote : std::exchange(dirty_, {})) {
    const List& list = lists_.find(remote)->second;
    put(list.row, {remote, list.permissions});
    stored_.insert(list.row);
  }
}

void Permissions::forget_stored() {
  stored_.clear();
  erased_.clear();
  for (const auto& [remote, list] : lists_) dirty_.insert(remote);
}

absl::Status Permissions::restore(Index row, RemotePermissions list) {
  const bool valid = row && check(SetPermissions{list.remote, list.list}).none() && !stored_.contains(row);
  if (!valid || lists_.contains(list.remote)) return absl::DataLossError("an impossible list of permissions");
  digest_ += list_hash(list.remote, row, list.list);
  stored_.insert(row);
  lists_.emplace(std::move(list.remote), List{row, std::move(list.list)});
  return absl::OkStatus();
}

uint64_t Permissions::recomputed_digest() const {
  uint64_t sum = 0;
  for (const auto& [remote, list] : lists_) sum += list_hash(remote, list.row, list.permissions);
  return sum;
}

}  // namespace coordkit::machine

#include <iterator>
#include <utility>

#include "coordkit/operate/permissions.h"
#include "service/objects/object_access.h"
#include "service/shell/host.h"

namespace coordkit {

Permissions::Permissions(const Service& service) : host_(HandleAccess::host(service)) {}

absl::StatusOr<PermissionsResult> Permissions::set(std::string remote, std::vector<Permission> list, Duration timeout) {
  return wait_for_async<absl::StatusOr<PermissionsResult>>(*host_, timeout, [&](Callback<PermissionsResult> done) {
    return begin_by<Admission::Always>(host_, std::move(done), &PermissionCalls::set, std::move(remote), std::move(list),
                                       kAnswer, CallDeadline(host_->deadline(timeout)));
  });
}

absl::StatusOr<PermissionsResult> Permissions::remove(std::string remote, Duration timeout) {
  return wait_for_async<absl::StatusOr<PermissionsResult>>(*host_, timeout, [&](Callback<PermissionsResult> done) {
    return begin_by<Admission::Always>(host_, std::move(done), &PermissionCalls::remove, std::move(remote), kAnswer,
                                       CallDeadline(host_->deadline(timeout)));
  });
}

absl::StatusOr<std::vector<RemotePermissions>> Permissions::list(Duration timeout) const {
  std::vector<RemotePermissions> all;
  std::string first;
  while (true) {
    absl::StatusOr<PermissionsPage> page =
        wait_for_async<absl::StatusOr<PermissionsPage>>(*host_, timeout, [&](Callback<PermissionsPage> done) {
          return begin_by<Admission::Always>(host_, std::move(done), &PermissionCalls::list, first, kAnswer,
                                             CallDeadline(host_->deadline(timeout)));
        });
    if (!page.ok()) return page.status();
    std::move(page->remotes.begin(), page->remotes.end(), std::back_inserter(all));
    if (!page->more || all.empty()) return all;
    first = all.back().remote + '\0';  // the next possible name
  }
}

}  // namespace coordkit

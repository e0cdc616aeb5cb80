// The permissions of remotes behind the public interface (coordkit/client/permission_calls.h).
#include "coordkit/client/permission_calls.h"

#include <iterator>
#include <memory>
#include <utility>

#include "client/calls/answers.h"
#include "client/impl.h"
#include "coordkit/error.h"
#include "machine/permissions/permissions.h"

namespace coordkit {
namespace {

// The level is that of the log. An older replica could not read the entry.
absl::Status level_reached(const client::Requests& requests) {
  constexpr uint64_t kNeeded = 7;
  if (requests.feature_level() >= kNeeded) return absl::OkStatus();
  return make_error(Reason::Unsupported,
                    "permissions need feature level 7, and the cluster is below it: upgrade all replicas first");
}

CallId write_list(client::WriteCalls& writes, client::Requests& requests, machine::SetPermissions set,
                  Callback<PermissionsResult> done, CallDeadline deadline) {
  const machine::Request request{.body = std::move(set)};
  absl::Status refusal = client::check_request(request);
  if (refusal.ok()) refusal = level_reached(requests);
  return writes.write<PermissionsResult>(
      writes.command(request, {.deadline = deadline}, std::move(refusal)), std::move(done),
      [](const Completion& completion) -> absl::StatusOr<PermissionsResult> {
        const auto result = client::result_of(completion);
        if (!result.ok()) return result.status();
        if (result->code == machine::ResultCode::LimitExceeded) {
          return make_error(Reason::LimitExceeded, "there are 4,096 lists of permissions, which is the most; remove some");
        }
        if (result->code == machine::ResultCode::NotFound) {
          return make_error(Reason::NotFound, "this remote has no list of permissions of its own");
        }
        if (result->code != machine::ResultCode::Ok) return client::status_of(*result, client::Nameless{"list of permissions"});
        return PermissionsResult{completion.index};
      });
}

}  // namespace

CallId PermissionCalls::set(std::string remote, std::vector<Permission> list, Callback<PermissionsResult> done,
                            CallDeadline deadline) {
  return write_list(client_->impl_->writes, client_->impl_->requests, {.remote = std::move(remote), .list = std::move(list)},
                    std::move(done), deadline);
}

CallId PermissionCalls::remove(std::string remote, Callback<PermissionsResult> done, CallDeadline deadline) {
  return write_list(client_->impl_->writes, client_->impl_->requests, {.remote = std::move(remote), .list = {}, .remove = true},
                    std::move(done), deadline);
}

CallId PermissionCalls::list(std::string first, Callback<PermissionsPage> done, CallDeadline deadline) {
  return client_->impl_->reads.read<PermissionsPage>(
      {.deadline = deadline}, machine::PermissionsFrom{std::move(first)}, std::move(done),
      [](const machine::PermissionsFrom&, machine::PermissionLists lists, const Completion& completion) {
        return PermissionsPage{std::move(lists.lists), lists.more, completion.index};
      });
}

}  // namespace coordkit

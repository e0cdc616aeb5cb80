#include "coordkit/replica.h"

#include <utility>

#include "base/with_reason.h"
#include "replica/shell/opening.h"
#include "replica/shell/replica_calls.h"
#include "service/calls/call_forms.h"
#include "service/calls/waiting.h"
#include "service/objects/object_access.h"
#include "service/shell/unopened.h"

namespace coordkit {

absl::StatusOr<std::unique_ptr<Replica>> Replica::open(ReplicaOptions options) {
  return opened_or_refused("replica", [&]() -> absl::StatusOr<std::unique_ptr<Replica>> {
    auto host = open_host(std::move(options));
    if (!host.ok()) return with_reason(host.status());
    std::unique_ptr<Replica> replica(new Replica(*host, **host));
    if (absl::Status admin = (*host)->open_admin(); !admin.ok()) return with_reason(admin);
    return replica;
  });
}

Replica::Replica(std::shared_ptr<Host> host, ReplicaCalls& calls) : Service(std::move(host)), calls_(calls) {}
Replica::~Replica() = default;

// ---- members

absl::StatusOr<Index> Replica::change_membership(MembershipChange change, MembershipOptions options) {
  return wait_by(*HandleAccess::host(*this), *this, &Replica::change_membership_async, std::move(change), options);
}

AsyncCall Replica::change_membership_async(MembershipChange change, MembershipOptions options, Callback<Index> done) {
  return begin<absl::StatusOr<Index>>(
      HandleAccess::host(*this),
      [calls = &calls_, change = std::move(change), options](Client&, Callback<Index> answer) {
        return calls->change_members(change, options, std::move(answer));
      },
      std::move(done));
}

MemberList Replica::members() const { return health().members; }

absl::Status Replica::transfer_leadership(std::optional<uint64_t> target, Duration timeout) {
  return wait_by(*HandleAccess::host(*this), *this, &Replica::transfer_leadership_async, target, timeout);
}

AsyncCall Replica::transfer_leadership_async(std::optional<uint64_t> target, Duration timeout, DoneCallback done) {
  return begin<absl::Status>(
      HandleAccess::host(*this),
      [calls = &calls_, target, timeout](Client&, DoneCallback answer) {
        return calls->transfer_leadership(target, timeout, std::move(answer));
      },
      std::move(done));
}

absl::Status Replica::scrub_now(absl::FunctionRef<bool()> awaited) { return calls_.scrub_now(awaited); }

absl::Status Replica::reload_tls() { return calls_.reload_tls(); }

absl::StatusOr<BackupInfo> Replica::backup(const std::string& file, LiveBackupOptions options) {
  return calls_.backup(file, std::move(options));
}

}  // namespace coordkit

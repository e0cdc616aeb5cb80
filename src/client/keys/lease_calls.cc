// Leases of keys behind the public interface (leases.h).
#include <utility>

#include "client/calls/answers.h"
#include "client/impl.h"
#include "coordkit/error.h"

namespace coordkit {

CallId LeaseCalls::keep(KeepLeaseOptions options, Callback<KeyLeaseRef> done) {
  return client_->impl_->leases.keep(std::move(options), std::move(done));
}

CallId LeaseCalls::revoke(const KeyLeaseRef& lease, DoneCallback done, CallDeadline deadline) {
  if (lease != nullptr) return client_->impl_->sessions.close(lease->life_, std::move(done), deadline);
  return client_->impl_->calls.refuse(
      std::move(done), make_error(Reason::InvalidArgument, "no lease was given; pass the one that keep() answered"));
}

CallId LeaseCalls::grant(LeaseId id, Duration ttl, Callback<GrantedLease> done, CallDeadline deadline) {
  return client_->impl_->leases.write({.body = machine::GrantLease{.id = id, .ttl = ttl}}, std::move(done), deadline);
}

CallId LeaseCalls::renew(LeaseId id, Callback<GrantedLease> done, CallDeadline deadline) {
  return client_->impl_->leases.write({.body = machine::RenewLease{id}}, std::move(done), deadline);
}

CallId LeaseCalls::revoke(LeaseId id, Callback<RevokedLease> done, CallDeadline deadline) {
  return client_->impl_->writes.write<RevokedLease>(
      client_->impl_->writes.command({.body = machine::RevokeLease{.id = id}}, {.deadline = deadline}), std::move(done),
      [](const Completion& completion) -> absl::StatusOr<RevokedLease> {
        const auto result = client::done_of(completion, client::Nameless{"lease"});
        if (!result.ok()) return result.status();
        return RevokedLease{result->deleted, result->revision, completion.index};
      });
}

CallId LeaseCalls::time_to_live(LeaseId id, bool keys, Callback<LeaseDetails> done, CallDeadline deadline) {
  return client_->impl_->leases.time_to_live(id, keys, std::move(done), deadline);
}

CallId LeaseCalls::list(Callback<LeaseList> done, CallDeadline deadline) {
  return client_->impl_->leases.list(std::move(done), deadline);
}

}  // namespace coordkit

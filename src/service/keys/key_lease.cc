#include "coordkit/keys/key_lease.h"

#include <utility>

#include "service/calls/call_forms.h"
#include "service/objects/object_access.h"
#include "service/sessions/phases.h"
#include "service/shell/host.h"

namespace coordkit {
namespace {

absl::Status no_lease() { return make_error(Reason::Closed, "this handle has no lease: get one from Leases::keep"); }

}  // namespace

// State shared by the copies of one KeyLease.
class KeyLease::Handle {
 public:
  Handle(std::shared_ptr<CallRunner> host, KeyLeaseRef lease, Phases phases)
      : host_(std::move(host)), lease_(std::move(lease)), phases_(std::move(phases)) {}
  ~Handle() {
    if (host_->forked()) return;
    phases_.last_handle_gone();
    if (lease_->revoked() || lease_->phase() == SessionPhase::Lost) return;
    lease_->invalidate();
    host_->post([lease = lease_](Client& client) { client.leases().revoke(lease, [](absl::Status) {}); });
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  const std::shared_ptr<CallRunner>& host() const { return host_; }
  const KeyLeaseRef& lease() const { return lease_; }
  const Phases& phases() const { return phases_; }

 private:
  std::shared_ptr<CallRunner> host_;
  KeyLeaseRef lease_;
  const Phases phases_;
};

// ---- KeyLease

LeaseId KeyLease::id() const { return handle_ ? handle_->lease()->id() : LeaseId(); }
Duration KeyLease::ttl() const { return handle_ ? handle_->lease()->ttl() : Duration(); }
bool KeyLease::short_lived() const { return handle_ && handle_->lease()->short_lived(); }
bool KeyLease::valid() const { return remaining() > Duration::zero(); }
SessionPhase KeyLease::phase() const {
  return handle_ && !handle_->host()->forked() ? handle_->lease()->phase() : SessionPhase::Lost;
}
Duration KeyLease::remaining() const {
  if (!handle_ || handle_->host()->forked()) return Duration::zero();
  return handle_->lease()->remaining(handle_->host()->clock().now().leading);
}
LeadingTime KeyLease::validity_deadline() const { return handle_ ? handle_->lease()->validity_deadline() : LeadingTime::min(); }

absl::Status KeyLease::revoke() {
  if (!handle_) return no_lease();
  if (absl::Status refused = refusal_to_wait(*handle_->host()); !refused.ok()) return refused;
  handle_->lease()->invalidate();  // docs/time.md T8: before anything is sent
  handle_->phases().end();
  return wait_by(*handle_->host(), *this, &KeyLease::revoke_async);
}

AsyncCall KeyLease::revoke_async(absl::AnyInvocable<void(absl::Status)> done) {
  if (!handle_) {
    tell(std::move(done), no_lease());
    return {};
  }
  handle_->lease()->invalidate();  // docs/time.md T8: before anything is sent
  return begin<absl::Status>(
      handle_->host(),
      [lease = handle_->lease()](Client& client, DoneCallback answer) {
        return client.leases().revoke(lease, std::move(answer));
      },
      std::move(done));
}

// ---- Leases

Leases::Leases(const Service& service) : host_(HandleAccess::host(service)) {}

AsyncCall Leases::keep_async(LeaseOptions options, Callback<KeyLease> done) {
  const LaggingTime deadline = host_->deadline(options.timeout);
  return begin_in_line<absl::StatusOr<KeyLease>>(
      host_, deadline,
      [host = host_, options = std::move(options), deadline](Client& client, Callback<KeyLease> answer) mutable {
        Phases phases(options.on_phase);
        return client.leases().keep({.ttl = options.ttl,
                                     .id = options.id,
                                     .deadline = deadline,
                                     .on_phase = std::move(options.on_phase),
                                     .give_up = options.give_up},
                                    [host = std::move(host), phases = std::move(phases),
                                     answer = std::move(answer)](absl::StatusOr<KeyLeaseRef> lease) mutable {
                                      if (!lease.ok()) return std::move(answer)(lease.status());
                                      std::move(answer)(KeyLease(std::make_shared<KeyLease::Handle>(
                                          std::move(host), *std::move(lease), std::move(phases))));
                                    });
      },
      std::move(done));
}

AsyncCall Leases::grant_async(Duration ttl, LeaseId id, Duration timeout, Callback<GrantedLease> done) {
  return begin_by(host_, std::move(done), &LeaseCalls::grant, id, ttl, kAnswer, host_->deadline(timeout));
}

AsyncCall Leases::renew_async(LeaseId id, Duration timeout, Callback<GrantedLease> done) {
  return begin_by<Admission::Always>(host_, std::move(done), &LeaseCalls::renew, id, kAnswer, host_->deadline(timeout));
}

AsyncCall Leases::revoke_async(LeaseId id, Duration timeout, Callback<RevokedLease> done) {
  return begin<absl::StatusOr<RevokedLease>>(
      host_,
      [id, deadline = host_->deadline(timeout)](Client& client, Callback<RevokedLease> answer) {
        return client.leases().revoke(id, std::move(answer), deadline);
      },
      std::move(done));
}

AsyncCall Leases::time_to_live_async(LeaseId id, bool keys, Duration timeout, Callback<LeaseDetails> done) const {
  return begin_by(host_, std::move(done), &LeaseCalls::time_to_live, id, keys, kAnswer, host_->deadline(timeout));
}

AsyncCall Leases::list_async(Duration timeout, Callback<LeaseList> done) const {
  return begin_by(host_, std::move(done), &LeaseCalls::list, kAnswer, host_->deadline(timeout));
}

// ---- the same, blocking

absl::StatusOr<KeyLease> Leases::keep(LeaseOptions options) {
  return wait_by(*host_, *this, &Leases::keep_async, std::move(options));
}
absl::StatusOr<GrantedLease> Leases::grant(Duration ttl, LeaseId id, Duration timeout) {
  return wait_by(*host_, *this, &Leases::grant_async, ttl, id, timeout);
}
absl::StatusOr<GrantedLease> Leases::renew(LeaseId id, Duration timeout) {
  return wait_by(*host_, *this, &Leases::renew_async, id, timeout);
}
absl::StatusOr<RevokedLease> Leases::revoke(LeaseId id, Duration timeout) {
  return wait_by(*host_, *this, &Leases::revoke_async, id, timeout);
}
absl::StatusOr<LeaseDetails> Leases::time_to_live(LeaseId id, bool keys, Duration timeout) const {
  return wait_by(*host_, *this, &Leases::time_to_live_async, id, keys, timeout);
}
absl::StatusOr<LeaseList> Leases::list(Duration timeout) const { return wait_by(*host_, *this, &Leases::list_async, timeout); }

}  // namespace coordkit

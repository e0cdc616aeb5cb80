// Sessions and grants beyond the plain lock: shared, several at once, and changes of what is held.
#include <utility>

#include "coordkit/session.h"
#include "service/calls/call_control.h"
#include "service/calls/call_forms.h"
#include "service/calls/no_grant.h"
#include "service/calls/waiting.h"
#include "service/sessions/session_handle.h"

namespace coordkit {

LockMode Grant::mode() const { return hold_ ? hold_->terms().mode : LockMode::Exclusive; }

absl::Status Grant::downgrade() { return convert(LockMode::Shared); }
absl::Status Grant::upgrade() { return convert(LockMode::Exclusive); }

absl::Status Grant::convert(LockMode to) {
  if (!hold_) return no_grant();
  absl::StatusOr<Grant> converted = wait_by(session_->host(), *this, &Grant::convert_async, to);
  if (!converted.ok()) return converted.status();
  hold_ = std::move(converted->hold_);
  return absl::OkStatus();
}

AsyncCall Grant::downgrade_async(absl::AnyInvocable<void(absl::StatusOr<Grant>)> done) {
  return convert_async(LockMode::Shared, std::move(done));
}
AsyncCall Grant::upgrade_async(absl::AnyInvocable<void(absl::StatusOr<Grant>)> done) {
  return convert_async(LockMode::Exclusive, std::move(done));
}

AsyncCall Grant::convert_async(LockMode to, absl::AnyInvocable<void(absl::StatusOr<Grant>)> done) {
  if (!hold_) {
    tell(std::move(done), no_grant());
    return {};
  }
  return begin<absl::StatusOr<HoldRef>>(
      CallSite(session_->shared_host(), to == LockMode::Shared ? "downgrade_async" : "upgrade_async"),
      [hold = hold_, to](Client& client, Callback<HoldRef> answer) {
        return to == LockMode::Shared ? client.downgrade(hold, std::move(answer)) : client.upgrade(hold, std::move(answer));
      },
      [session = session_, done = std::move(done)](absl::StatusOr<HoldRef> hold) mutable {
        if (!hold.ok()) return tell(std::move(done), hold.status());
        tell(std::move(done), Grant(Session(std::move(session)), *std::move(hold)));
      });
}

AsyncCall Grant::update_value_async(std::string value, absl::AnyInvocable<void(absl::Status)> done) {
  if (!hold_) {
    tell(std::move(done), no_grant());
    return {};
  }
  return begin<absl::Status>(
      session_->shared_host(),
      [hold = hold_, value = std::move(value)](Client& client, DoneCallback answer) mutable {
        return client.update_value(hold, std::move(value), std::move(answer));
      },
      std::move(done));
}

absl::Status Grant::update_value(std::string value) {
  if (!hold_) return no_grant();
  return wait_by(session_->host(), *this, &Grant::update_value_async, std::move(value));
}

absl::StatusOr<Grant> Session::acquire_shared(std::string name, LockOptions options) {
  options.mode = LockMode::Shared;
  return acquire(std::move(name), std::move(options));
}

absl::StatusOr<Grant> acquire_all(Session session, std::vector<NamedLock> locks, LockOptions options) {
  return session.acquire_all(std::move(locks), std::move(options));
}

}  // namespace coordkit

// Sessions and grants beyond the plain lock: shared, several at once, and changes of what is held.
#include <utility>

#include "coordkit/session.h"
#include "replica/lock_options.h"
#include "replica/session_handle.h"
#include "replica/waiting.h"

namespace coordkit {
namespace {

absl::Status no_session() {
  return make_error(Reason::Closed, "this handle has no session: open one with Replica::open_session");
}

absl::Status no_grant() { return make_error(Reason::NotOwner, "this grant holds nothing: it was moved from or never made"); }

}  // namespace

LockMode Grant::mode() const { return hold_ ? hold_->terms().mode : LockMode::Exclusive; }

absl::Status Grant::downgrade() { return convert(LockMode::Shared); }
absl::Status Grant::upgrade() { return convert(LockMode::Exclusive); }

absl::Status Grant::convert(LockMode to) {
  if (!hold_) return no_grant();
  absl::StatusOr<HoldRef> hold =
      wait_for<HoldRef>(session_->host(), [hold = hold_, to](Client& client, Callback<HoldRef> done) {
        to == LockMode::Shared ? client.downgrade(hold, std::move(done)) : client.upgrade(hold, std::move(done));
      });
  if (!hold.ok()) return hold.status();
  hold_ = *std::move(hold);
  return absl::OkStatus();
}

absl::Status Grant::update_value(std::string value) {
  if (!hold_) return no_grant();
  return wait_for_done(session_->host(), [hold = hold_, value = std::move(value)](Client& client, DoneCallback done) mutable {
    client.update_value(hold, std::move(value), std::move(done));
  });
}

absl::StatusOr<Grant> Session::acquire_shared(std::string name, LockOptions options) {
  options.mode = LockMode::Shared;
  return acquire(std::move(name), std::move(options));
}

absl::StatusOr<Grant> Session::acquire_all(std::vector<NamedLock> locks, LockOptions options) {
  if (!handle_) return no_session();
  absl::StatusOr<HoldRef> hold =
      wait_for<HoldRef>(handle_->host(), [state = handle_->state(), locks = std::move(locks), options = std::move(options)](
                                             Client& client, Callback<HoldRef> done) mutable {
        client.acquire_all(state, std::move(locks), client_options(std::move(options)), std::move(done));
      });
  if (!hold.ok()) return hold.status();
  return Grant(*this, *std::move(hold));
}

void Session::acquire_all_async(std::vector<NamedLock> locks, LockOptions options,
                                absl::AnyInvocable<void(absl::StatusOr<Grant>)> done) {
  if (!handle_) return std::move(done)(no_session());
  handle_->host().call(
      [self = *this, locks = std::move(locks), options = std::move(options), done = std::move(done)](Client& client) mutable {
        const SessionRef state = self.handle_->state();
        client.acquire_all(state, std::move(locks), client_options(std::move(options)),
                           [self = std::move(self), done = std::move(done)](absl::StatusOr<HoldRef> hold) mutable {
                             if (!hold.ok()) return std::move(done)(hold.status());
                             std::move(done)(Grant(std::move(self), *std::move(hold)));
                           });
      });
}

absl::StatusOr<Grant> acquire_all(Session session, std::vector<NamedLock> locks, LockOptions options) {
  return session.acquire_all(std::move(locks), std::move(options));
}

}  // namespace coordkit

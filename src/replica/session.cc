#include "coordkit/session.h"

#include <utility>

#include "replica/lock_options.h"
#include "replica/session_handle.h"
#include "replica/waiting.h"

namespace coordkit {
namespace {

absl::Status no_session() {
  return make_error(Reason::Closed, "this handle has no session: open one with Replica::open_session");
}

absl::Status no_grant() { return make_error(Reason::NotOwner, "this grant holds nothing: it was moved from or never made"); }

const std::string kNoName;

}  // namespace

// ---- Grant

Grant::Grant(Session session, HoldRef hold) : session_(std::move(session.handle_)), hold_(std::move(hold)) {}

Grant& Grant::operator=(Grant&& other) noexcept {
  if (this == &other) return *this;
  release_later();
  session_ = std::move(other.session_);
  hold_ = std::move(other.hold_);
  return *this;
}

Grant::~Grant() { release_later(); }

bool Grant::valid() const { return hold_ && hold_->valid(session_->now()); }
Token Grant::token() const { return hold_ ? hold_->token() : Token(); }
const std::string& Grant::name() const { return hold_ ? hold_->name() : kNoName; }
std::stop_token Grant::lost() const { return hold_ ? hold_->lost_token() : std::stop_token(); }

absl::Status Grant::release() {
  if (!hold_) return no_grant();
  hold_->invalidate();
  return wait_for_done(session_->host(),
                       [hold = hold_](Client& client, DoneCallback done) { client.release(hold, std::move(done)); });
}

void Grant::release_later() {
  if (!hold_ || !hold_->invalidate()) return;
  session_->host().call([hold = hold_](Client& client) { client.release_later(hold); });
}

void Grant::release_async(absl::AnyInvocable<void(absl::Status)> done) {
  if (!hold_) return std::move(done)(no_grant());
  hold_->invalidate();
  session_->host().call(
      [hold = hold_, done = std::move(done)](Client& client) mutable { client.release(hold, std::move(done)); });
}

absl::StatusOr<bool> Grant::check() const {
  if (!hold_) return no_grant();
  return wait_for<bool>(session_->host(),
                        [hold = hold_](Client& client, Callback<bool> done) { client.check(hold, std::move(done)); });
}

Fence fenced_by(const Grant& grant) { return fenced_by(grant.hold_); }

// ---- Session

SessionId Session::id() const { return handle_ ? handle_->state()->id() : SessionId(); }
Duration Session::ttl() const { return handle_ ? handle_->state()->ttl() : Duration(); }
bool Session::valid() const { return handle_ && handle_->state()->valid(handle_->now()); }
SessionPhase Session::phase() const { return handle_ ? handle_->state()->phase() : SessionPhase::Lost; }

absl::StatusOr<Grant> Session::acquire(std::string name, LockOptions options) {
  if (!handle_) return no_session();
  absl::StatusOr<HoldRef> hold =
      wait_for<HoldRef>(handle_->host(), [state = handle_->state(), name = std::move(name), options = std::move(options)](
                                             Client& client, Callback<HoldRef> done) mutable {
        client.acquire(state, std::move(name), client_options(std::move(options)), std::move(done));
      });
  if (!hold.ok()) return hold.status();
  return Grant(*this, *std::move(hold));
}

absl::StatusOr<Grant> Session::try_acquire(std::string name, LockOptions options) {
  options.timeout = Duration::zero();
  return acquire(std::move(name), std::move(options));
}

void Session::acquire_async(std::string name, LockOptions options, absl::AnyInvocable<void(absl::StatusOr<Grant>)> done) {
  if (!handle_) return std::move(done)(no_session());
  handle_->host().call(
      [self = *this, name = std::move(name), options = std::move(options), done = std::move(done)](Client& client) mutable {
        const SessionRef state = self.handle_->state();
        client.acquire(state, std::move(name), client_options(std::move(options)),
                       [self = std::move(self), done = std::move(done)](absl::StatusOr<HoldRef> hold) mutable {
                         if (!hold.ok()) return std::move(done)(hold.status());
                         std::move(done)(Grant(std::move(self), *std::move(hold)));
                       });
      });
}

absl::Status Session::close() {
  if (!handle_) return no_session();
  if (handle_->host().on_engine_thread()) return would_wait_for_itself();
  handle_->state()->invalidate();  // docs/time.md T8: before anything is sent
  return wait_for_done(handle_->host(),
                       [state = handle_->state()](Client& client, DoneCallback done) { client.close(state, std::move(done)); });
}

}  // namespace coordkit

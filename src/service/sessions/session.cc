#include "coordkit/session.h"

#include <optional>
#include <type_traits>
#include <utility>

#include "client/calls/answers.h"
#include "client/locks/lent_delegations.h"
#include "service/calls/call_control.h"
#include "service/calls/call_forms.h"
#include "service/calls/no_grant.h"
#include "service/calls/waiting.h"
#include "service/locks/lock_options.h"
#include "service/sessions/session_handle.h"

namespace coordkit {
namespace {

absl::Status no_session() {
  return make_error(Reason::Closed, "this handle has no session: open one with Service::open_session");
}

}  // namespace

// ---- Grant

Grant::Grant() = default;
Grant::Grant(Grant&&) noexcept = default;
Grant::Grant(Session session, HoldRef hold) : session_(std::move(session.handle_)), hold_(std::move(hold)) {}

Grant& Grant::operator=(Grant&& other) noexcept {
  if (this == &other) return *this;
  release_later();
  session_ = std::move(other.session_);
  hold_ = std::move(other.hold_);
  return *this;
}

Grant::~Grant() { release_later(); }

bool Grant::valid() const { return hold_ && !session_->host().forked() && hold_->valid(session_->now()); }
Token Grant::token() const { return hold_ ? hold_->token() : Token(); }
Duration Grant::remaining() const {
  return hold_ && !session_->host().forked() ? hold_->remaining(session_->now()) : Duration::zero();
}
std::string Grant::name() const { return hold_ ? hold_->name() : std::string(); }
std::stop_token Grant::lost() const { return hold_ ? hold_->lost_token() : std::stop_token(); }

namespace {

// Ends a local hold that is invalid by now; false: it had already ended.
bool release_here(CallRunner& host, const HoldRef& hold) {
  const Delegations::Released released = hold->session()->delegations()->release(*hold);
  if (released == Delegations::Released::Serve) host.post([hold](Client& client) { client.released_locally(hold); });
  return released != Delegations::Released::NotCurrent;
}

// S-51: where the whole process slept, the client has missed the moment too.
bool past_its_time(const SessionHandle& session, const HoldState& hold) {
  return !session.host().forked() && !hold.released() && hold.until() != LeadingTime::max() && session.now() >= hold.until();
}
DoneCallback unless_released(DoneCallback answer) {
  return [answer = std::move(answer)](absl::Status status) mutable {
    std::move(answer)(status.ok() ? client::hold_over() : std::move(status));
  };
}

}  // namespace

// The end of a local hold waits for nobody, if its session is valid: no other session can have had the lock then. In jeopardy
// the client waits for the session's fate. Refused, a grant is as it was.
absl::Status Grant::release() {
  if (!hold_) return no_grant();
  CallRunner& host = session_->host();
  if (host.forked()) return forked_away();
  const bool local = hold_->delegation() != nullptr && hold_->valid(session_->now());
  if (absl::Status refused = refusal_to_wait(host); !local && !refused.ok()) return refused;
  if (local && hold_->invalidate() && release_here(host, hold_)) return absl::OkStatus();
  return wait_by(host, *this, &Grant::release_async);
}

void Grant::release_later() {
  if (!hold_ || !hold_->invalidate()) return;
  if (hold_->delegation() && !session_->host().forked() && release_here(session_->host(), hold_)) return;
  session_->host().post([hold = hold_](Client& client) { client.release_later(hold); });
}

AsyncCall Grant::release_async(absl::AnyInvocable<void(absl::Status)> done) {
  if (!hold_) {
    tell(std::move(done), no_grant());
    return {};
  }
  const bool late = past_its_time(*session_, *hold_);
  hold_->invalidate();
  return begin<absl::Status>(
      session_->shared_host(),
      [hold = hold_, late](Client& client, DoneCallback answer) {
        return client.release(hold, late ? unless_released(std::move(answer)) : std::move(answer));
      },
      std::move(done));
}

AsyncCall Grant::check_async(absl::AnyInvocable<void(absl::StatusOr<bool>)> done) const {
  if (!hold_) {
    tell(std::move(done), no_grant());
    return {};
  }
  return begin<absl::StatusOr<bool>>(
      session_->shared_host(),
      [hold = hold_](Client& client, Callback<bool> answer) { return client.check(hold, std::move(answer)); }, std::move(done));
}

absl::StatusOr<bool> Grant::check() const {
  if (!hold_) return no_grant();
  return wait_by(session_->host(), *this, &Grant::check_async);
}

Fence fenced_by(const Grant& grant) { return fenced_by(grant.hold_); }

// ---- Session

Session::Session() = default;
Session::Session(const Session&) = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(const Session&) = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;
Session::Session(Ref<SessionHandle> handle) : handle_(std::move(handle)) {}

SessionId Session::id() const { return handle_ ? handle_->state()->id() : SessionId(); }
Duration Session::ttl() const { return handle_ ? handle_->state()->ttl() : Duration(); }
bool Session::valid() const { return remaining() > Duration::zero(); }
SessionPhase Session::phase() const {
  return handle_ && !handle_->host().forked() ? handle_->state()->phase() : SessionPhase::Lost;
}
LeadingTime Session::validity_deadline() const { return handle_ ? handle_->state()->validity_deadline() : LeadingTime::min(); }
Duration Session::remaining() const {
  return handle_ && !handle_->host().forked() ? handle_->state()->remaining(handle_->now()) : Duration::zero();
}
std::stop_token Session::lost() const { return handle_ ? handle_->state()->lost_token() : std::stop_token(); }
std::string Session::metadata() const { return handle_ ? handle_->state()->metadata() : std::string(); }
std::string Session::secret() const { return handle_ ? handle_->state()->secret() : std::string(); }

// Grants what this session may grant by itself, on this thread.
HoldRef Session::acquire_here(std::string_view name, const LockOptions& options) const {
  const bool plain = options.mode == LockMode::Exclusive && !options.reentrant && options.delay == Duration::zero() &&
                     options.max_hold == Duration::zero() && !options.stop.stop_requested();
  if (!plain || handle_->host().forked()) return nullptr;
  const SessionRef& state = handle_->state();
  return state->delegations() ? state->delegations()->acquire(state, name, options.owner, handle_->now()) : nullptr;
}

// S-49: a thread that blocks here lets nothing go meanwhile, so it is one thread of control.
absl::StatusOr<Grant> Session::acquire(std::string name, LockOptions options) {
  if (!handle_) return no_session();
  if (options.owner.empty()) options.owner = OwnerTags::of_this_thread();
  if (HoldRef hold = acquire_here(name, options)) return Grant(*this, std::move(hold));
  return wait_by(handle_->host(), *this, &Session::acquire_async, std::move(name), std::move(options));
}

absl::StatusOr<Grant> Session::try_acquire(std::string name, LockOptions options) {
  options.timeout = Duration::zero();
  return acquire(std::move(name), std::move(options));
}

// Makes a hold of the session's a grant.
struct Session::Granting {
  using Delivered = absl::StatusOr<Grant>;
  Session session;
  Delivered convert(absl::StatusOr<HoldRef> hold) {
    if (!hold.ok()) return hold.status();
    return Grant(std::move(session), *std::move(hold));
  }
};

// `start(client, answer, session, locks, options)` asks the client for it.
template <typename Start, typename Locks>
AsyncCall Session::acquire_by(Start start, Locks&& locks, LockOptions&& options,
                              absl::AnyInvocable<void(absl::StatusOr<Grant>)>&& done) {
  if (!handle_) {
    tell(std::move(done), no_session());
    return {};
  }
  if (handle_->host().forked()) {
    tell(std::move(done), forked_away());
    return {};
  }
  // S-49: it blocks nobody, so nothing is known of what its caller does meanwhile. Re-entry needs an owner that comes again.
  if (options.owner.empty() && !options.reentrant) options.owner = handle_->owner_tags().fresh();
  constexpr bool several = !std::is_same_v<std::remove_cvref_t<Locks>, std::string>;
  CallSite site(handle_->shared_host(), several ? "acquire_all_async" : "acquire_async");
  if (!site.host->admit(LaggingTime::max())) return refuse(site, std::move(done));
  const std::stop_token stop = options.stop;
  return begin_at<absl::StatusOr<HoldRef>>(std::move(site), Counts::Yes, start, std::move(done), Granting{*this}, stop, handle_,
                                           std::move(locks), std::move(options));
}

AsyncCall Session::acquire_async(std::string name, LockOptions options, absl::AnyInvocable<void(absl::StatusOr<Grant>)> done) {
  const auto start = [](Client& client, Callback<HoldRef>&& answer, const Ref<SessionHandle>& session, std::string&& lock,
                        LockOptions&& terms) {
    return client.acquire(session->state(), std::move(lock), client_options(std::move(terms)), std::move(answer));
  };
  return acquire_by(start, std::move(name), std::move(options), std::move(done));
}

AsyncCall Session::acquire_all_async(std::vector<NamedLock> locks, LockOptions options,
                                     absl::AnyInvocable<void(absl::StatusOr<Grant>)> done) {
  const auto start = [](Client& client, Callback<HoldRef>&& answer, const Ref<SessionHandle>& session,
                        std::vector<NamedLock>&& all, LockOptions&& terms) {
    return client.acquire_all(session->state(), std::move(all), client_options(std::move(terms)), std::move(answer));
  };
  return acquire_by(start, std::move(locks), std::move(options), std::move(done));
}

absl::StatusOr<Grant> Session::acquire_all(std::vector<NamedLock> locks, LockOptions options) {
  if (!handle_) return no_session();
  if (options.owner.empty()) options.owner = OwnerTags::of_this_thread();
  return wait_by(handle_->host(), *this, &Session::acquire_all_async, std::move(locks), std::move(options));
}

absl::Status Session::close() {
  if (!handle_) return no_session();
  if (absl::Status refused = refusal_to_wait(handle_->host()); !refused.ok()) return refused;
  handle_->state()->invalidate();  // docs/time.md T8: before anything is sent
  handle_->phases().end();
  return wait_by(handle_->host(), *this, &Session::close_async);
}

AsyncCall Session::close_async(absl::AnyInvocable<void(absl::Status)> done) {
  if (!handle_) {
    tell(std::move(done), no_session());
    return {};
  }
  handle_->state()->invalidate();  // docs/time.md T8: before anything is sent
  return begin<absl::Status>(
      handle_->shared_host(),
      [state = handle_->state()](Client& client, DoneCallback answer) { return client.close(state, std::move(answer)); },
      std::move(done));
}

}  // namespace coordkit

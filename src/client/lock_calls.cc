#include "client/lock_calls.h"

#include <algorithm>
#include <utility>

#include "client/lock_refusal.h"
#include "client/waits.h"
#include "coordkit/error.h"

namespace coordkit::client {
namespace {

// The name, for both kinds of acquire.
std::string name_of(const machine::Acquire& body) { return body.name; }
std::string name_of(const machine::AcquireAll& body) { return body.locks.empty() ? std::string() : body.locks.front().name; }

HoldTerms terms_of(const machine::Acquire& body) { return {body.mode, (body.flags & machine::kReentrant) != 0, {}}; }
HoldTerms terms_of(const machine::AcquireAll& body) {
  return {body.locks.front().mode, false, {body.locks.begin() + 1, body.locks.end()}};
}

uint64_t block_of(const machine::Acquire& body) { return body.block; }
uint64_t block_of(const machine::AcquireAll&) { return 0; }

bool names(const machine::Acquire& body, const std::string& name) { return body.name == name; }
bool names(const machine::AcquireAll& body, const std::string& name) {
  return std::ranges::any_of(body.locks, [&name](const NamedLock& each) { return each.name == name; });
}

uint64_t flags_of(const AcquireOptions& options) {
  return (options.reentrant ? machine::kReentrant : 0) | (options.no_deadlock_check ? machine::kNoDeadlockCheck : 0);
}

}  // namespace

CallId LockCalls::acquire(const SessionRef& session, std::string name, AcquireOptions options, bool proclaims,
                          Callback<HoldRef> done) {
  machine::Acquire body{.session = {},
                        .owner_tag = std::move(options.owner_tag),
                        .name = std::move(name),
                        .wait = wait_of(options.wait),
                        .value = std::move(options.value),
                        .flags = flags_of(options),
                        .mode = options.mode,
                        .delay = options.delay,
                        .block = options.sticky ? options_.sticky.block : 0};
  return enter(session, std::move(body), options, proclaims, std::move(done));
}

CallId LockCalls::acquire_all(const SessionRef& session, std::vector<NamedLock> locks, AcquireOptions options,
                              Callback<HoldRef> done) {
  if (options.sticky) {
    return calls_.refuse(std::move(done), make_error(Reason::InvalidArgument, "several locks at once cannot be sticky"));
  }
  machine::AcquireAll body{.session = {},
                           .owner_tag = std::move(options.owner_tag),
                           .locks = std::move(locks),
                           .wait = wait_of(options.wait),
                           .value = std::move(options.value),
                           .flags = flags_of(options),
                           .delay = options.delay};
  return enter(session, std::move(body), options, /*proclaims=*/false, std::move(done));
}

CallId LockCalls::campaign(const SessionRef& session, std::string name, CampaignOptions options, Callback<HoldRef> done) {
  AcquireOptions terms{.wait = options.wait,
                       .owner_tag = std::move(options.owner),
                       .value = std::move(options.value),
                       .deadline = options.deadline};
  return acquire(session, std::move(name), std::move(terms), options.proclaim_if_leader, std::move(done));
}

template <typename Body>
CallId LockCalls::enter(const SessionRef& session, Body body, const AcquireOptions& options, bool proclaims,
                        Callback<HoldRef> done) {
  if (session == nullptr) return calls_.refuse(std::move(done), no_session());
  body.session = session->id();
  machine::Request request{.body = std::move(body)};
  if (absl::Status refusal = check_request(request); !refusal.ok()) return calls_.refuse(std::move(done), refusal);
  if (session->phase() == SessionPhase::Lost) return calls_.refuse(std::move(done), session_over());
  if (options.max_hold < Duration::zero()) {
    return calls_.refuse(std::move(done), make_error(Reason::InvalidArgument, "max_hold is negative; zero means no limit"));
  }
  const CallId id = calls_.enter(std::move(done), OnAbandon::Pursue, options.deadline, timeout_of(options.wait, options_),
                                 [this, begun = pool<Body>().make({session, std::get<Body>(std::move(request.body))})](
                                     CallId call, Now now) { start(call, begun->session, std::move(begun->body), now); });
  acquires_.own(id, options.max_hold, proclaims);
  return id;
}

template <typename Body>
void LockCalls::start(CallId id, const SessionRef& of, Body&& body, Now now) {
  Session* session = acquires_.begin(id, of, now);
  if (session == nullptr) return;
  if (session->overfull()) {
    requests_.retry(now, [this, id, of, body = std::forward<Body>(body)](Now later) mutable {
      start(id, of, std::forward<Body>(body), later);
    });
    return;
  }
  if (!lines_.join(id, *session, body, now)) go_to_log(id, std::forward<Body>(body));
}

template <typename Body>
void LockCalls::go_to_log(CallId id, Body&& body) {
  const Session& session = *table_.find(calls_.find(id)->acquire->session);
  if (body.wait.kind == machine::Wait::Kind::None && seems_held(session, body)) {
    confirm_held(id, std::forward<Body>(body));
  } else {
    submit(id, std::forward<Body>(body));
  }
}

template void LockCalls::go_to_log(CallId, machine::Acquire&&);

// By this replica's own state, possibly stale. A pending release of ours makes it worth a log entry, which performs it.
template <typename Body>
bool LockCalls::seems_held(const Session& session, const Body& body) const {
  if (session.releases.any([&](const PendingRelease& release) { return names(body, release.name); })) return false;
  const machine::Reads* state = requests_.reads();
  if (state == nullptr) return false;
  return state->refusal_of(body).has_value();
}

// A failed try costs no log entry: one confirmed read is as good (S-48).
template <typename Body>
void LockCalls::confirm_held(CallId id, Body body) {
  Call& call = *calls_.find(id);
  call.ticket = requests_.when_readable({.deadline = call.deadline},
                                        [this, id, body = std::move(body)](const Completion& completion, Now) mutable {
                                          if (calls_.find(id) == nullptr) return;
                                          const auto state = requests_.reads(completion);
                                          if (!state.ok()) {
                                            calls_.fail(id, state.status());
                                          } else if (const auto refusal = (*state)->refusal_of(body)) {
                                            held(id, body, *refusal);
                                          } else {
                                            submit(id, std::move(body));
                                          }
                                        });
}

template <typename Body>
void LockCalls::held(CallId id, const Body& body, const machine::Result& refusal) {
  const PendingAcquire& call = *calls_.find(id)->acquire;
  if (refusal.code == machine::ResultCode::AlreadyHeld && call.proclaims) {
    acquires_.proclaim(id, SessionRef(call.session), name_of(body), refusal.token, body.value);
  } else {
    refuse_lock(calls_, statistics_, id, refusal, name_of(body));
  }
}

template <typename Body>
void LockCalls::submit(CallId id, Body&& body) {
  Acquires::Terms terms{.name = name_of(body),
                        .owner_tag = body.owner_tag,
                        .hold = terms_of(body),
                        .block = block_of(body),
                        .delay = body.delay,
                        .of_lock = true};
  if (calls_.find(id)->acquire->proclaims) terms.proclaimed = body.value;
  acquires_.submit(id, std::move(terms), {.body = std::forward<Body>(body)});
}

}  // namespace coordkit::client

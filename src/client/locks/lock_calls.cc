#include "client/locks/lock_calls.h"

#include <algorithm>
#include <utility>

#include "client/calls/answers.h"
#include "client/calls/waits.h"
#include "coordkit/error.h"

namespace coordkit::client {
namespace {

// The name in both kinds of acquire.
const std::string& name_of(const machine::Acquire& body) { return body.name; }
const std::string& name_of(const machine::AcquireAll& body) {
  static const std::string none;
  return body.locks.empty() ? none : body.locks.front().name;
}

HoldTerms terms_of(const machine::Acquire& body) { return {body.mode, (body.flags & machine::kReentrant) != 0, {}}; }
HoldTerms terms_of(const machine::AcquireAll& body) {
  return {body.locks.front().mode, false, {body.locks.begin() + 1, body.locks.end()}};
}

uint64_t block_of(const machine::Acquire& body) { return body.block; }
uint64_t block_of(const machine::AcquireAll&) { return 0; }
void make_plain(machine::Acquire& body) { body.block = 0; }
void make_plain(machine::AcquireAll&) {}

bool names(const machine::Acquire& body, const std::string& name) { return body.name == name; }
bool names(const machine::AcquireAll& body, const std::string& name) {
  return std::ranges::any_of(body.locks, [&name](const NamedLock& each) { return each.name == name; });
}

uint64_t flags_of(const AcquireOptions& options) {
  return (options.reentrant ? machine::kReentrant : 0) | (options.no_deadlock_check ? machine::kNoDeadlockCheck : 0);
}

// The fields that both kinds take from the options.
template <typename Body>
void take_terms(AcquireOptions& options, Body& body) {
  body.owner_tag = std::move(options.owner_tag);
  body.wait = wait_of(options.wait);
  body.texts = std::move(options.texts);
  body.flags = flags_of(options);
  body.delay = options.delay;
}

}  // namespace

CallId LockCalls::acquire(const SessionRef& session, std::string&& name, AcquireOptions&& options, bool proclaims,
                          Callback<HoldRef>&& done) {
  const auto fill = [&](machine::Acquire& body) {
    take_terms(options, body);
    body.name = std::move(name);
    body.mode = options.mode;
    body.block = options.sticky ? options_.sticky.block : 0;
  };
  return enter<machine::Acquire>(session, fill, options, proclaims, std::move(done));
}

CallId LockCalls::acquire_all(const SessionRef& session, std::vector<NamedLock> locks, AcquireOptions options,
                              Callback<HoldRef> done) {
  if (options.sticky) {
    return calls_.refuse(std::move(done), make_error(Reason::InvalidArgument, "several locks at once cannot be sticky"));
  }
  const auto fill = [&](machine::AcquireAll& body) {
    take_terms(options, body);
    body.locks = std::move(locks);
  };
  return enter<machine::AcquireAll>(session, fill, options, /*proclaims=*/false, std::move(done));
}

CallId LockCalls::campaign(const SessionRef& session, std::string name, CampaignOptions options, Callback<HoldRef> done) {
  AcquireOptions terms{.wait = options.wait,
                       .owner_tag = std::move(options.owner),
                       .texts = {.value = std::move(options.value)},
                       .deadline = options.deadline};
  return acquire(session, std::move(name), std::move(terms), options.proclaim_if_leader, std::move(done));
}

// Makes the request in the place where it stays until it is written.
template <typename Body, typename Fill>
CallId LockCalls::enter(const SessionRef& session, Fill fill, const AcquireOptions& options, bool proclaims,
                        Callback<HoldRef>&& done) {
  if (session == nullptr) return calls_.refuse(std::move(done), no_session());
  PoolRef<Entered> begun = entered_.emplace(session);
  Body& body = begun->request.body.emplace<Body>();
  fill(body);
  body.session = session->id();
  if (absl::Status refusal = check_request(begun->request); !refusal.ok()) return calls_.refuse(std::move(done), refusal);
  if (requests_.state_is_elsewhere()) make_plain(body);  // a request to give a sticky lock back could be missed
  if (session->phase() == SessionPhase::Lost) return calls_.refuse(std::move(done), session_over());
  if (options.max_hold < Duration::zero()) {
    return calls_.refuse(std::move(done), make_error(Reason::InvalidArgument, "max_hold is negative; zero means no limit"));
  }
  const CallId id = calls_.enter(std::move(done), OnAbandon::Pursue, options.deadline, options.wait,
                                 [this, begun = std::move(begun)](CallId call, Now now) {
                                   start<Body>(call, begun->session, std::move(begun->request), now);
                                 });
  acquires_.own(id, options.max_hold, proclaims);
  return id;
}

template <typename Body>
void LockCalls::start(CallId id, const SessionRef& of, machine::Request&& request, Now now) {
  Session* session = acquires_.begin(id, of, now);
  if (session == nullptr) return;
  if (session->overfull()) {
    requests_.retry(now, [this, id, of, request = std::move(request)](Now later) mutable {
      start<Body>(id, of, std::move(request), later);
    });
    return;
  }
  const bool joined = lines_.join(id, *session, std::get<Body>(request.body), now);
  send_fetches();
  if (!joined) go_to_log<Body>(id, std::move(request));
}

void LockCalls::serve_lines(Now now) {
  lines_.look_again(now);
  while (lines_.serve_next(now)) send_fetches();
}

void LockCalls::send_fetches() {
  while (auto fetch = lines_.take_fetch()) {
    if (calls_.find(fetch->call) != nullptr) go_to_log<machine::Acquire>(fetch->call, {.body = std::move(fetch->body)});
  }
}

template <typename Body>
void LockCalls::go_to_log(CallId id, machine::Request&& request) {
  Call& call = *calls_.find(id);
  const Body& body = std::get<Body>(request.body);
  if (body.wait.kind == machine::Wait::Kind::None && seems_held(acquires_.session_of(call), body)) {
    confirm_held<Body>(id, std::move(request));
  } else {
    submit<Body>(call, std::move(request));
  }
}

// Judged by this replica's own state, possibly stale. If a release of ours is pending, the try is worth a log entry, which
// performs it.
template <typename Body>
bool LockCalls::seems_held(const Session& session, const Body& body) const {
  if (session.releases.any([&](const PendingRelease& release) { return names(body, release.name); })) return false;
  const machine::Reads* state = requests_.reads();
  if (state == nullptr) return false;
  return state->refusal_of(body).has_value();
}

// A failed try costs no log entry: one confirmed read is as good (S-48).
template <typename Body>
void LockCalls::confirm_held(CallId id, machine::Request&& request) {
  Call& call = *calls_.find(id);
  call.ticket = requests_.ask({.deadline = call.deadline}, machine::RefusalOf{std::move(request)},
                              [this, id](machine::RefusalOf& asked, const auto& refusal, const Completion&, Now) {
                                Call* const found = calls_.find(id);
                                if (found == nullptr) return;
                                if (!refusal.ok()) {
                                  calls_.fail(id, refusal.status());
                                } else if (*refusal) {
                                  const Body& body = std::get<Body>(asked.request.body);
                                  acquires_.refuse(*found->acquire, name_of(body), **refusal, body.texts.value);
                                } else {
                                  submit<Body>(*found, std::move(asked.request));
                                }
                              });
}

template <typename Body>
void LockCalls::submit(Call& call, machine::Request&& request) {
  const Body& body = std::get<Body>(request.body);
  Acquires::Terms terms{.name = name_of(body),
                        .owner_tag = body.owner_tag,
                        .hold = terms_of(body),
                        .block = block_of(body),
                        .delay = body.delay,
                        .of_lock = true};
  if (call.acquire->proclaims) terms.proclaimed = body.texts.value;
  acquires_.submit(call, std::move(terms), std::move(request));
}

}  // namespace coordkit::client

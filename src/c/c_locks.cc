// Locks, and the grants of locks and elections.
#include <chrono>
#include <string>
#include <utility>

#include "c/c_completions.h"
#include "c/c_errors.h"
#include "c/c_grants.h"
#include "c/c_handles.h"
#include "coordkit/c/coordkit_remote.h"
#include "coordkit/session.h"

namespace coordkit::c {
namespace {

// An owner of an acquire's own, drawn as S-49 has it. The library's own draws never look like this.
std::string fresh_owner(coordkit_session& session) { return "~c" + std::to_string(++session.owners); }

LockOptions lock_options(Arguments& given, coordkit_session* session, const coordkit_lock_options* options,
                         int64_t timeout_ms) {
  const coordkit_lock_options wanted = given.options(options);
  LockOptions made;
  made.timeout = timeout_from(timeout_ms);
  made.value = given.text("options->value", wanted.value);
  made.owner = given.text("options->owner", wanted.owner);
  if (made.owner.empty() && session != nullptr) made.owner = fresh_owner(*session);
  made.mode = wanted.shared != 0 ? LockMode::Shared : LockMode::Exclusive;
  made.delay = given.span("options->delay_ms", wanted.delay_ms, {});
  made.max_hold = given.span("options->max_hold_ms", wanted.max_hold_ms, {});
  return made;
}

}  // namespace
}  // namespace coordkit::c

using namespace coordkit;     // NOLINT: what follows is outside of every namespace
using namespace coordkit::c;  // NOLINT

coordkit_status coordkit_acquire(coordkit_session* session, const char* name, size_t name_size,
                                 const coordkit_lock_options* options, int64_t timeout_ms, coordkit_grant** grant,
                                 coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(session, "session");
    given.needs(grant, "grant");
    std::string lock = given.text("name", name, name_size);
    LockOptions wanted = lock_options(given, session, options, timeout_ms);
    if (!given.ok()) return given.status();
    return grant_by(*session, grant, [&] { return session->session.acquire(std::move(lock), std::move(wanted)); });
  });
}

coordkit_status coordkit_acquire_async(coordkit_session* session, const char* name, size_t name_size,
                                       const coordkit_lock_options* options, int64_t timeout_ms, uint64_t tag,
                                       coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(session, "session");
    std::string lock = given.text("name", name, name_size);
    LockOptions wanted = lock_options(given, session, options, timeout_ms);
    if (!given.ok()) return given.status();
    return begin_grant(*session, tag, [&](Callback<Grant> done) {
      return session->session.acquire_async(std::move(lock), std::move(wanted), std::move(done));
    });
  });
}

// ---- grants

int32_t coordkit_grant_valid(const coordkit_grant* grant) {
  return unless_thrown<int32_t>(0, [&] { return grant != nullptr && grant->grant.valid() ? 1 : 0; });
}

int64_t coordkit_grant_remaining_ms(const coordkit_grant* grant) {
  return unless_thrown<int64_t>(0, [&] { return grant == nullptr ? 0 : milliseconds_of(grant->grant.remaining()); });
}

uint64_t coordkit_grant_token(const coordkit_grant* grant) {
  return unless_thrown<uint64_t>(0, [&] { return grant == nullptr ? 0 : grant->grant.token().value(); });
}

coordkit_status coordkit_grant_set_value(coordkit_grant* grant, const char* value, size_t value_size, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(grant, "grant");
    std::string shown = given.text("value", value, value_size);
    return given.ok() ? grant->grant.update_value(std::move(shown)) : given.status();
  });
}

coordkit_status coordkit_grant_release(coordkit_grant* grant, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(grant, "grant");
    return given.ok() ? grant->grant.release() : given.status();
  });
}

coordkit_status coordkit_grant_release_async(coordkit_grant* grant, uint64_t tag, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(grant, "grant");
    if (!given.ok()) return given.status();
    return begin_call<absl::Status>(
        grant->completions, slot_for(tag), [&](DoneCallback done) { return grant->grant.release_async(std::move(done)); },
        [](CallEnd&) {});
  });
}

void coordkit_grant_free(coordkit_grant* grant) {
  guarded(nullptr, [&] {
    delete grant;
    return absl::OkStatus();
  });
}

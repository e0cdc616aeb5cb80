// The link, its sessions, and what waits for coordkit_poll().
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c/c_completions.h"
#include "c/c_errors.h"
#include "c/c_handles.h"
#include "coordkit/c/coordkit_remote.h"
#include "coordkit/error.h"
#include "coordkit/remote.h"
#include "coordkit/session.h"
#include "coordkit/version.h"

namespace coordkit::c {
namespace {

constexpr size_t kGatewaysMax = 1024;

RemoteOptions remote_options(Arguments& given, const coordkit_remote_options* options) {
  given.needs(options, "options");
  const coordkit_remote_options wanted = given.options(options);
  RemoteOptions made;
  if (!given.ok()) return made;
  made.cluster = given.text("options->cluster", wanted.cluster);
  if (wanted.gateways_count > 0) given.needs(wanted.gateways, "options->gateways");
  if (wanted.gateways_count > kGatewaysMax) given.refuse("options->gateways_count is more than 1024: list fewer addresses");
  for (size_t i = 0; given.ok() && i < wanted.gateways_count; ++i) {
    made.gateways.push_back(given.text("a gateway", wanted.gateways[i]));
  }
  const std::string secret = given.text("options->secret", wanted.secret);
  if (!secret.empty() && wanted.plain_text != 0) given.refuse("options have both secret and plain_text: set one of them");
  if (!secret.empty()) made.security = SharedSecret{secret};
  if (secret.empty() && wanted.plain_text != 0) made.security = PlainText{};
  made.silence = given.span("options->silence_ms", wanted.silence_ms, made.silence);
  if (wanted.rate_error_ppm != 0) made.rate_error_ppm = wanted.rate_error_ppm;
  return made;
}

// Null for a tag of zero.
std::shared_ptr<Notice> notice_of(const std::shared_ptr<Completions>& completions, uint64_t tag) {
  return tag == 0 ? nullptr : std::make_shared<Notice>(completions, tag);
}

absl::StatusOr<coordkit_remote*> open_remote(RemoteOptions options, uint64_t link_tag) {
  absl::StatusOr<std::shared_ptr<Completions>> completions = Completions::make();
  if (!completions.ok()) return completions.status();
  if (auto notice = notice_of(*completions, link_tag)) options.on_link = [notice](const LinkState&) { notice->raise(); };
  absl::StatusOr<std::unique_ptr<Remote>> opened = Remote::open(std::move(options));
  if (!opened.ok()) return opened.status();
  return new coordkit_remote{*std::move(completions), *std::move(opened)};
}

SessionOptions session_options(Arguments& given, const coordkit_remote* remote, const coordkit_session_options* options,
                               int64_t timeout_ms) {
  const coordkit_session_options wanted = given.options(options);
  SessionOptions made;
  made.ttl = given.span("options->ttl_ms", wanted.ttl_ms, made.ttl);
  made.give_up = given.span("options->give_up_ms", wanted.give_up_ms, made.give_up);
  made.metadata = given.text("options->metadata", wanted.metadata);
  made.timeout = timeout_from(timeout_ms);
  if (!given.ok()) return made;
  if (auto notice = notice_of(remote->completions, wanted.phase_tag))
    made.on_phase = [notice](SessionPhase) { notice->raise(); };
  return made;
}

// A struct of an older program is shorter: it has not heard of what follows.
void write_completion(CallEnd& end, coordkit_completion& place) {
  coordkit_completion made{};
  made.struct_size = place.struct_size;
  made.tag = end.tag;
  answer(end.status, &made.error);
  if (end.status.ok()) {  // otherwise that which was made for a good answer is of no use
    made.session = end.session.release();
    made.grant = end.grant.release();
    made.entries = end.entries.release();
    made.leader = end.leader.release();
    made.revision = end.revision;
    made.deleted = end.deleted;
  }
  std::memcpy(&place, &made, std::min(place.struct_size, sizeof made));
}

bool serves(const Health& health) { return health.state == ReplicaState::Ready || health.state == ReplicaState::Learner; }

}  // namespace
}  // namespace coordkit::c

using namespace coordkit;     // NOLINT: what follows is outside of every namespace
using namespace coordkit::c;  // NOLINT

const char* coordkit_version() { return COORDKIT_VERSION_STRING; }

coordkit_status coordkit_remote_open(const coordkit_remote_options* options, coordkit_remote** remote, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    RemoteOptions wanted = remote_options(given, options);
    given.needs(remote, "remote");
    if (!given.ok()) return given.status();
    const absl::StatusOr<coordkit_remote*> opened = open_remote(std::move(wanted), given.options(options).link_tag);
    if (opened.ok()) *remote = *opened;
    return opened.status();
  });
}

coordkit_status coordkit_remote_wait_ready(coordkit_remote* remote, int64_t timeout_ms, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    return given.ok() ? remote->remote->wait_ready(timeout_from(timeout_ms)) : given.status();
  });
}

coordkit_status coordkit_remote_health(coordkit_remote* remote, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    if (!given.ok()) return given.status();
    if (absl::Status usable = remote->completions->usable(); !usable.ok()) return usable;
    const Health health = remote->remote->health();
    return serves(health) ? absl::OkStatus() : make_error(Reason::NotReady, health.reason);
  });
}

coordkit_status coordkit_remote_close(coordkit_remote* remote, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    if (!given.ok()) return given.status();
    remote->completions->close();
    return remote->remote->close();
  });
}

coordkit_status coordkit_remote_link(coordkit_remote* remote, coordkit_link** link, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    given.needs(link, "link");
    if (!given.ok()) return given.status();
    if (absl::Status usable = remote->completions->usable(); !usable.ok()) return usable;
    LinkState now = remote->remote->link();
    auto made = std::make_unique<OwnedLink>();
    made->gateway_text = std::move(now.gateway);
    made->why_text = std::move(now.why);
    made->state = static_cast<int32_t>(now.kind) + COORDKIT_LINK_DIALING;
    made->gateway = bytes_of(made->gateway_text);
    made->why = bytes_of(made->why_text);
    *link = made.release();
    return absl::OkStatus();
  });
}

void coordkit_link_free(coordkit_link* link) { delete static_cast<OwnedLink*>(link); }

void coordkit_remote_free(coordkit_remote* remote) {
  if (remote == nullptr) return;
  guarded(nullptr, [&] {
    const std::shared_ptr<Completions> completions = remote->completions;
    delete remote;  // no callback runs after this
    completions->end();
    return absl::OkStatus();
  });
}

// ---- sessions

coordkit_status coordkit_session_open(coordkit_remote* remote, const coordkit_session_options* options, int64_t timeout_ms,
                                      coordkit_session** session, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    given.needs(session, "session");
    SessionOptions wanted = session_options(given, remote, options, timeout_ms);
    if (!given.ok()) return given.status();
    std::unique_ptr<coordkit_session> made(new coordkit_session{remote->completions, Session()});
    absl::StatusOr<Session> opened = remote->remote->open_session(std::move(wanted));
    if (!opened.ok()) return opened.status();
    made->session = *std::move(opened);
    *session = made.release();
    return absl::OkStatus();
  });
}

coordkit_status coordkit_session_open_async(coordkit_remote* remote, const coordkit_session_options* options,
                                            int64_t timeout_ms, uint64_t tag, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    SessionOptions wanted = session_options(given, remote, options, timeout_ms);
    if (!given.ok()) return given.status();
    Slot slot = slot_for(tag);
    slot.front().session.reset(new coordkit_session{remote->completions, Session()});
    return begin_call<absl::StatusOr<Session>>(
        remote->completions, std::move(slot),
        [&](Callback<Session> done) { return remote->remote->open_session_async(std::move(wanted), std::move(done)); },
        [](CallEnd& end, Session opened) {
          end.session->session = std::move(opened);
          return absl::OkStatus();
        });
  });
}

coordkit_status coordkit_session_close(coordkit_session* session, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(session, "session");
    return given.ok() ? session->session.close() : given.status();
  });
}

void coordkit_session_free(coordkit_session* session) {
  guarded(nullptr, [&] {
    delete session;
    return absl::OkStatus();
  });
}

int32_t coordkit_session_phase(const coordkit_session* session) {
  return unless_thrown<int32_t>(COORDKIT_SESSION_LOST, [&] {
    return session == nullptr ? COORDKIT_SESSION_LOST : static_cast<int32_t>(session->session.phase());
  });
}

int64_t coordkit_session_remaining_ms(const coordkit_session* session) {
  return unless_thrown<int64_t>(0, [&] { return session == nullptr ? 0 : milliseconds_of(session->session.remaining()); });
}

uint64_t coordkit_session_id(const coordkit_session* session) {
  return unless_thrown<uint64_t>(0, [&] { return session == nullptr ? 0 : session->session.id().value(); });
}

// ---- completions

coordkit_status coordkit_descriptor(coordkit_remote* remote, int* descriptor, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    given.needs(descriptor, "descriptor");
    if (!given.ok()) return given.status();
    if (remote->completions->forked()) return fork_of_opener();
    *descriptor = remote->completions->descriptor();
    return absl::OkStatus();
  });
}

coordkit_status coordkit_poll(coordkit_remote* remote, coordkit_completion* completion, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    given.needs(completion, "completion");
    if (completion != nullptr) given.size("completion->struct_size", completion->struct_size, first_size(completion));
    if (!given.ok()) return given.status();
    if (remote->completions->forked()) return fork_of_opener();
    std::optional<CallEnd> oldest = remote->completions->take();
    if (!oldest) return make_error(Reason::NotFound, "no completion waits");
    write_completion(*oldest, *completion);
    return absl::OkStatus();
  });
}

coordkit_status coordkit_cancel(coordkit_remote* remote, uint64_t tag, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    if (!given.ok()) return given.status();
    if (remote->completions->forked()) return fork_of_opener();
    remote->completions->cancel(tag);
    return absl::OkStatus();
  });
}

#include "coordkit/replica.h"

#include <boost/system/system_error.hpp>
#include <system_error>
#include <utility>

#include "base/thread.h"
#include "base/with_reason.h"
#include "coordkit/error.h"
#include "replica/calls/call_forms.h"
#include "replica/calls/waiting.h"
#include "replica/sessions/open_session.h"
#include "replica/sessions/resumed_handles.h"
#include "replica/sessions/session_handle.h"
#include "replica/shell/opening.h"
#include "storage/posix_file_system.h"

namespace coordkit {

namespace {

// An exception while a replica is opened says that the system refuses a thread, a descriptor or memory.
absl::Status not_opened(const std::error_code& why, std::string_view what) {
  if (why == std::errc::resource_unavailable_try_again) {  // of a thread, which no descriptor answers
    return make_error(Reason::LimitExceeded,
                      "cannot open the replica: " + std::string(what) + ": " + why.message() +
                          " (raise the limit of threads or of memory, of this user or of the container)");
  }
  return storage::errno_status(why.value(), "cannot open the replica: " + std::string(what));
}

}  // namespace

// Everything that had been opened is closed by the time that an exception is caught.
absl::StatusOr<std::unique_ptr<Replica>> Replica::open(ReplicaOptions options) try {
  auto host = open_host(std::move(options));
  if (!host.ok()) return with_reason(host.status());
  std::unique_ptr<Replica> replica(new Replica(*host));
  if (absl::Status admin = (*host)->open_admin(); !admin.ok()) return with_reason(admin);
  return replica;
} catch (const UnstartedThread& error) {
  return not_opened(error.code(), "it can start no thread");
} catch (const std::system_error& error) {  // a descriptor's
  return not_opened(error.code(), "it needs a timer and an event (timerfd_create, eventfd)");
} catch (const boost::system::system_error& error) {  // Asio's
  return not_opened(error.code(), "it needs the kernel objects of Asio (epoll_create, eventfd, timerfd_create)");
}

Replica::Replica(std::shared_ptr<Host> host) : host_(std::move(host)) {}

Replica::~Replica() {
  Host& host = *host_;
  host.end(std::move(host_));
}

absl::Status Replica::close() { return host_->close(); }

AsyncCall Replica::close_async(DoneCallback done) {
  host_->close_async(host_, std::move(done));
  return {};
}

// ---- calls of the client: the async form, and the blocking one that waits for it

absl::StatusOr<Session> Replica::open_session(SessionOptions options) {
  return wait_by(*host_, *this, &Replica::open_session_async, std::move(options));
}

AsyncCall Replica::open_session_async(SessionOptions options, Callback<Session> done) {
  return open_session_on(host_, std::move(options), std::move(done));
}

absl::StatusOr<Resumed> Replica::resume_session(SessionId session, std::string secret, ResumeSessionOptions options) {
  return wait_by(*host_, *this, &Replica::resume_session_async, session, std::move(secret), std::move(options));
}

AsyncCall Replica::resume_session_async(SessionId session, std::string secret, ResumeSessionOptions options,
                                        Callback<Resumed> done) {
  const LaggingTime deadline = host_->deadline(options.timeout);
  return begin_in_line<absl::StatusOr<Resumed>>(
      host_, deadline,
      [host = host_, session, secret = std::move(secret), options = std::move(options), deadline](
          Client& client, Callback<Resumed> answer) mutable {
        Phases phases(options.on_phase);
        return client.resume_session(session, std::move(secret),
                                     {.deadline = deadline,
                                      .on_phase = std::move(options.on_phase),
                                      .previous_is_gone = options.previous_is_gone,
                                      .give_up = options.give_up},
                                     [host = std::move(host), phases = std::move(phases),
                                      answer = std::move(answer)](absl::StatusOr<ResumedSession> resumed) mutable {
                                       if (!resumed.ok()) return std::move(answer)(resumed.status());
                                       std::move(answer)(handles_of(std::move(host), *std::move(resumed), std::move(phases)));
                                     });
      },
      std::move(done));
}

absl::Status Replica::kill_session(SessionId session, Duration timeout) {
  return wait_by(*host_, *this, &Replica::kill_session_async, session, timeout);
}

AsyncCall Replica::kill_session_async(SessionId session, Duration timeout, DoneCallback done) {
  return begin_by<Admission::Always>(host_, std::move(done), &Client::kill_session, session, kAnswer, host_->deadline(timeout));
}

absl::StatusOr<SessionId> Replica::force_release(std::string name, Token token, Duration timeout) {
  return wait_by(*host_, *this, &Replica::force_release_async, std::move(name), token, timeout);
}

AsyncCall Replica::force_release_async(std::string name, Token token, Duration timeout, Callback<SessionId> done) {
  return begin_by<Admission::Always>(host_, std::move(done), &Client::force_release, std::move(name), token, kAnswer,
                                     host_->deadline(timeout));
}

absl::StatusOr<PutResult> Replica::put(std::string key, std::string value, ProposeOptions options) {
  return wait_by(*host_, *this, &Replica::put_async, std::move(key), std::move(value), std::move(options));
}

AsyncCall Replica::put_async(std::string key, std::string value, ProposeOptions options, Callback<PutResult> done) {
  return begin_by(host_, std::move(done), &Client::put, std::move(key), std::move(value), kAnswer,
                  host_->write_options(std::move(options)));
}

absl::StatusOr<GetResult> Replica::get(std::string key, ReadOptions options) {
  return wait_by(*host_, *this, &Replica::get_async, std::move(key), options);
}

AsyncCall Replica::get_async(std::string key, ReadOptions options, Callback<GetResult> done) {
  return begin_by(host_, std::move(done), &Client::get, std::move(key), kAnswer, CallDeadline(), options);
}

absl::StatusOr<EraseResult> Replica::erase(std::string key, ProposeOptions options) {
  return wait_by(*host_, *this, &Replica::erase_async, std::move(key), std::move(options));
}

AsyncCall Replica::erase_async(std::string key, ProposeOptions options, Callback<EraseResult> done) {
  return begin_by(host_, std::move(done), &Client::erase, std::move(key), kAnswer, host_->write_options(std::move(options)));
}

absl::StatusOr<ProposeResult> Replica::propose(MachineId machine, std::string command, ProposeOptions options) {
  return wait_by(*host_, *this, &Replica::propose_async, machine, std::move(command), std::move(options));
}

AsyncCall Replica::propose_async(MachineId machine, std::string command, ProposeOptions options, Callback<ProposeResult> done) {
  return begin_by(host_, std::move(done), &Client::propose, machine, std::move(command), kAnswer,
                  host_->write_options(std::move(options)));
}

absl::StatusOr<QueryResult> Replica::query(MachineId machine, std::string question, QueryOptions options) {
  return wait_by(*host_, *this, &Replica::query_async, machine, std::move(question), options);
}

AsyncCall Replica::query_async(MachineId machine, std::string question, QueryOptions options, Callback<QueryResult> done) {
  return begin_by(host_, std::move(done), &Client::query, machine, std::move(question), kAnswer,
                  host_->deadline(options.timeout), options.read);
}

// ---- members

absl::StatusOr<Index> Replica::change_membership(MembershipChange change, MembershipOptions options) {
  return wait_by(*host_, *this, &Replica::change_membership_async, std::move(change), options);
}

AsyncCall Replica::change_membership_async(MembershipChange change, MembershipOptions options, Callback<Index> done) {
  return begin<absl::StatusOr<Index>>(
      host_,
      [host = host_.get(), change = std::move(change), options](Client&, Callback<Index> answer) {
        return host->change_members(change, options, std::move(answer));
      },
      std::move(done));
}

MemberList Replica::members() const { return host_->health().health().members; }

absl::Status Replica::transfer_leadership(std::optional<uint64_t> target, Duration timeout) {
  return wait_by(*host_, *this, &Replica::transfer_leadership_async, target, timeout);
}

AsyncCall Replica::transfer_leadership_async(std::optional<uint64_t> target, Duration timeout, DoneCallback done) {
  return begin<absl::Status>(
      host_,
      [host = host_.get(), target, timeout](Client&, DoneCallback answer) {
        return host->transfer_leadership(target, timeout, std::move(answer));
      },
      std::move(done));
}

Health Replica::health() const { return host_->health().health(); }

absl::Status Replica::scrub_now(absl::FunctionRef<bool()> awaited) { return host_->scrub_now(awaited); }

absl::Status Replica::reload_tls() { return host_->reload_tls(); }

absl::Status Replica::wait_ready(Duration timeout) const { return host_->health().wait_ready(timeout); }

AsyncCall Replica::health_async(Callback<Health> done) const {
  return begin<absl::StatusOr<Health>>(
      host_, [host = host_.get()](Client&, Callback<Health> answer) { return host->health().ask(std::move(answer)); },
      std::move(done));
}

AsyncCall Replica::wait_ready_async(Duration timeout, DoneCallback done) const {
  return begin<absl::Status>(
      host_,
      [host = host_.get(), deadline = host_->deadline(timeout)](Client&, DoneCallback answer) {
        return host->health().ask_ready(deadline, std::move(answer));
      },
      std::move(done));
}

}  // namespace coordkit

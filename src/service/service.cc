#include "coordkit/service.h"

#include <utility>

#include "coordkit/error.h"
#include "service/calls/call_forms.h"
#include "service/calls/waiting.h"
#include "service/sessions/open_session.h"
#include "service/sessions/resumed_handles.h"
#include "service/sessions/session_handle.h"
#include "service/shell/host.h"

namespace coordkit {

Service::Service(std::shared_ptr<Host> host) : host_(std::move(host)) {}

Service::~Service() {
  Host& host = *host_;
  host.end(std::move(host_));
}

absl::Status Service::close() { return host_->close(); }

AsyncCall Service::close_async(DoneCallback done) {
  host_->close_async(host_, std::move(done));
  return {};
}

// ---- calls of the client: the async form, and the blocking one that waits for it

absl::StatusOr<Session> Service::open_session(SessionOptions options) {
  return wait_by(*host_, *this, &Service::open_session_async, std::move(options));
}

AsyncCall Service::open_session_async(SessionOptions options, Callback<Session> done) {
  return open_session_on(host_, std::move(options), std::move(done));
}

absl::StatusOr<Resumed> Service::resume_session(SessionId session, std::string secret, ResumeSessionOptions options) {
  return wait_by(*host_, *this, &Service::resume_session_async, session, std::move(secret), std::move(options));
}

AsyncCall Service::resume_session_async(SessionId session, std::string secret, ResumeSessionOptions options,
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

absl::Status Service::kill_session(SessionId session, Duration timeout) {
  return wait_by(*host_, *this, &Service::kill_session_async, session, timeout);
}

AsyncCall Service::kill_session_async(SessionId session, Duration timeout, DoneCallback done) {
  return begin_by<Admission::Always>(host_, std::move(done), &Client::kill_session, session, kAnswer, host_->deadline(timeout));
}

absl::StatusOr<SessionId> Service::force_release(std::string name, Token token, Duration timeout) {
  return wait_by(*host_, *this, &Service::force_release_async, std::move(name), token, timeout);
}

AsyncCall Service::force_release_async(std::string name, Token token, Duration timeout, Callback<SessionId> done) {
  return begin_by<Admission::Always>(host_, std::move(done), &Client::force_release, std::move(name), token, kAnswer,
                                     host_->deadline(timeout));
}

absl::StatusOr<PutResult> Service::put(std::string key, std::string value, ProposeOptions options) {
  return wait_by(*host_, *this, &Service::put_async, std::move(key), std::move(value), std::move(options));
}

AsyncCall Service::put_async(std::string key, std::string value, ProposeOptions options, Callback<PutResult> done) {
  return begin_by(host_, std::move(done), &Client::put, std::move(key), std::move(value), kAnswer,
                  host_->write_options(std::move(options)));
}

absl::StatusOr<GetResult> Service::get(std::string key, ReadOptions options) {
  return wait_by(*host_, *this, &Service::get_async, std::move(key), options);
}

AsyncCall Service::get_async(std::string key, ReadOptions options, Callback<GetResult> done) {
  return begin_by(host_, std::move(done), &Client::get, std::move(key), kAnswer, CallDeadline(), options);
}

absl::StatusOr<EraseResult> Service::erase(std::string key, ProposeOptions options) {
  return wait_by(*host_, *this, &Service::erase_async, std::move(key), std::move(options));
}

AsyncCall Service::erase_async(std::string key, ProposeOptions options, Callback<EraseResult> done) {
  return begin_by(host_, std::move(done), &Client::erase, std::move(key), kAnswer, host_->write_options(std::move(options)));
}

absl::StatusOr<ProposeResult> Service::propose(MachineId machine, std::string command, ProposeOptions options) {
  return wait_by(*host_, *this, &Service::propose_async, machine, std::move(command), std::move(options));
}

AsyncCall Service::propose_async(MachineId machine, std::string command, ProposeOptions options, Callback<ProposeResult> done) {
  return begin_by(host_, std::move(done), &Client::propose, machine, std::move(command), kAnswer,
                  host_->write_options(std::move(options)));
}

absl::StatusOr<QueryResult> Service::query(MachineId machine, std::string question, QueryOptions options) {
  return wait_by(*host_, *this, &Service::query_async, machine, std::move(question), options);
}

AsyncCall Service::query_async(MachineId machine, std::string question, QueryOptions options, Callback<QueryResult> done) {
  return begin_by(host_, std::move(done), &Client::query, machine, std::move(question), kAnswer,
                  host_->deadline(options.timeout), options.read);
}

// ---- health

Health Service::health() const { return host_->health().health(); }

absl::Status Service::wait_ready(Duration timeout) const { return host_->health().wait_ready(timeout); }

AsyncCall Service::health_async(Callback<Health> done) const {
  return begin<absl::StatusOr<Health>>(
      host_, [host = host_.get()](Client&, Callback<Health> answer) { return host->health().ask(std::move(answer)); },
      std::move(done));
}

AsyncCall Service::wait_ready_async(Duration timeout, DoneCallback done) const {
  return begin<absl::Status>(
      host_,
      [host = host_.get(), deadline = host_->deadline(timeout)](Client&, DoneCallback answer) {
        return host->health().ask_ready(deadline, std::move(answer));
      },
      std::move(done));
}

// ---- inspection, and things that administrators end

absl::Status Service::clear_delay(std::string name, Duration timeout) {
  return wait_by(*host_, *this, &Service::clear_delay_async, std::move(name), timeout);
}

AsyncCall Service::clear_delay_async(std::string name, Duration timeout, DoneCallback done) {
  return begin_by<Admission::Always>(host_, std::move(done), &Client::clear_delay, std::move(name), kAnswer,
                                     host_->deadline(timeout));
}

// ---- queries

absl::StatusOr<LockInfo> Service::holders(std::string name) {
  return wait_by(*host_, *this, &Service::holders_async, std::move(name));
}

AsyncCall Service::holders_async(std::string name, Callback<LockInfo> done) {
  return begin_by(host_, std::move(done), &Client::holders, std::move(name));
}

absl::StatusOr<QueueInfo> Service::queue(std::string name) {
  return wait_by(*host_, *this, &Service::queue_async, std::move(name));
}

AsyncCall Service::queue_async(std::string name, Callback<QueueInfo> done) {
  return begin_by(host_, std::move(done), &Client::queue, std::move(name));
}

absl::StatusOr<SessionInfo> Service::session_info(SessionId session) {
  return wait_by(*host_, *this, &Service::session_info_async, session);
}

AsyncCall Service::session_info_async(SessionId session, Callback<SessionInfo> done) {
  return begin_by(host_, std::move(done), &Client::session_info, session);
}

absl::StatusOr<SessionList> Service::sessions(SessionId after, uint64_t limit) {
  return wait_by(*host_, *this, &Service::sessions_async, after, limit);
}

AsyncCall Service::sessions_async(SessionId after, uint64_t limit, Callback<SessionList> done) {
  return begin_by(host_, std::move(done), &Client::sessions, after, limit);
}

absl::StatusOr<SessionLocks> Service::locks_of(SessionId session, Token after) {
  return wait_by(*host_, *this, &Service::locks_of_async, session, after);
}

AsyncCall Service::locks_of_async(SessionId session, Token after, Callback<SessionLocks> done) {
  return begin_by(host_, std::move(done), &Client::locks_of, session, after);
}

absl::StatusOr<LockStatistics> Service::lock_statistics() const {
  const absl::StatusOr<Metrics> metrics = host_->health().metrics();
  if (!metrics.ok()) return metrics.status();
  return metrics->locks;
}

absl::StatusOr<Metrics> Service::metrics() const { return host_->health().metrics(); }

}  // namespace coordkit

// Replica, the part for inspection: holders, waiters, objects; and what administrators end.
#include <utility>

#include "coordkit/replica.h"
#include "replica/calls/call_forms.h"
#include "replica/calls/waiting.h"
#include "replica/shell/host.h"

namespace coordkit {

absl::Status Replica::clear_delay(std::string name, Duration timeout) {
  return wait_by(*host_, *this, &Replica::clear_delay_async, std::move(name), timeout);
}

AsyncCall Replica::clear_delay_async(std::string name, Duration timeout, DoneCallback done) {
  return begin_by<Admission::Always>(host_, std::move(done), &Client::clear_delay, std::move(name), kAnswer,
                                     host_->deadline(timeout));
}

// ---- queries

absl::StatusOr<LockInfo> Replica::holders(std::string name) {
  return wait_by(*host_, *this, &Replica::holders_async, std::move(name));
}

AsyncCall Replica::holders_async(std::string name, Callback<LockInfo> done) {
  return begin_by(host_, std::move(done), &Client::holders, std::move(name));
}

absl::StatusOr<QueueInfo> Replica::queue(std::string name) {
  return wait_by(*host_, *this, &Replica::queue_async, std::move(name));
}

AsyncCall Replica::queue_async(std::string name, Callback<QueueInfo> done) {
  return begin_by(host_, std::move(done), &Client::queue, std::move(name));
}

absl::StatusOr<SessionInfo> Replica::session_info(SessionId session) {
  return wait_by(*host_, *this, &Replica::session_info_async, session);
}

AsyncCall Replica::session_info_async(SessionId session, Callback<SessionInfo> done) {
  return begin_by(host_, std::move(done), &Client::session_info, session);
}

absl::StatusOr<SessionList> Replica::sessions(SessionId after, uint64_t limit) {
  return wait_by(*host_, *this, &Replica::sessions_async, after, limit);
}

AsyncCall Replica::sessions_async(SessionId after, uint64_t limit, Callback<SessionList> done) {
  return begin_by(host_, std::move(done), &Client::sessions, after, limit);
}

absl::StatusOr<SessionLocks> Replica::locks_of(SessionId session, Token after) {
  return wait_by(*host_, *this, &Replica::locks_of_async, session, after);
}

AsyncCall Replica::locks_of_async(SessionId session, Token after, Callback<SessionLocks> done) {
  return begin_by(host_, std::move(done), &Client::locks_of, session, after);
}

absl::StatusOr<LockStatistics> Replica::lock_statistics() const {
  const absl::StatusOr<Metrics> metrics = host_->health().metrics();
  if (!metrics.ok()) return metrics.status();
  return metrics->locks;
}

absl::StatusOr<Metrics> Replica::metrics() const { return host_->health().metrics(); }

absl::StatusOr<BackupInfo> Replica::backup(const std::string& file, LiveBackupOptions options) {
  return host_->backup(file, std::move(options));
}

}  // namespace coordkit

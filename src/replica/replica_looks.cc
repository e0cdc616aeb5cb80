// Replica as seen by those who look: who holds, who waits, what there is; and what administrators end.
#include <utility>

#include "coordkit/replica.h"
#include "replica/call_control.h"
#include "replica/host.h"
#include "replica/waiting.h"

namespace coordkit {

absl::Status Replica::clear_delay(std::string name, Duration timeout) {
  return wait_for_async<absl::Status>(*host_,
                                      [&](DoneCallback done) { clear_delay_async(std::move(name), timeout, std::move(done)); });
}

AsyncCall Replica::clear_delay_async(std::string name, Duration timeout, DoneCallback done) {
  return begin<absl::Status>(
      host_,
      [name = std::move(name), deadline = host_->deadline(timeout)](Client& client, DoneCallback answer) mutable {
        return client.clear_delay(std::move(name), std::move(answer), deadline);
      },
      std::move(done));
}

// ---- looks

absl::StatusOr<LockInfo> Replica::holders(std::string name) {
  return wait_for_async<absl::StatusOr<LockInfo>>(
      *host_, [&](Callback<LockInfo> done) { holders_async(std::move(name), std::move(done)); });
}

AsyncCall Replica::holders_async(std::string name, Callback<LockInfo> done) {
  return begin<absl::StatusOr<LockInfo>>(
      host_,
      [name = std::move(name)](Client& client, Callback<LockInfo> answer) mutable {
        return client.holders(std::move(name), std::move(answer));
      },
      std::move(done));
}

absl::StatusOr<QueueInfo> Replica::queue(std::string name) {
  return wait_for_async<absl::StatusOr<QueueInfo>>(
      *host_, [&](Callback<QueueInfo> done) { queue_async(std::move(name), std::move(done)); });
}

AsyncCall Replica::queue_async(std::string name, Callback<QueueInfo> done) {
  return begin<absl::StatusOr<QueueInfo>>(
      host_,
      [name = std::move(name)](Client& client, Callback<QueueInfo> answer) mutable {
        return client.queue(std::move(name), std::move(answer));
      },
      std::move(done));
}

absl::StatusOr<SessionInfo> Replica::session_info(SessionId session) {
  return wait_for_async<absl::StatusOr<SessionInfo>>(
      *host_, [&](Callback<SessionInfo> done) { session_info_async(session, std::move(done)); });
}

AsyncCall Replica::session_info_async(SessionId session, Callback<SessionInfo> done) {
  return begin<absl::StatusOr<SessionInfo>>(
      host_,
      [session](Client& client, Callback<SessionInfo> answer) { return client.session_info(session, std::move(answer)); },
      std::move(done));
}

absl::StatusOr<SessionList> Replica::sessions(SessionId after, uint64_t limit) {
  return wait_for_async<absl::StatusOr<SessionList>>(
      *host_, [&](Callback<SessionList> done) { sessions_async(after, limit, std::move(done)); });
}

AsyncCall Replica::sessions_async(SessionId after, uint64_t limit, Callback<SessionList> done) {
  return begin<absl::StatusOr<SessionList>>(
      host_,
      [after, limit](Client& client, Callback<SessionList> answer) { return client.sessions(after, limit, std::move(answer)); },
      std::move(done));
}

absl::StatusOr<SessionLocks> Replica::locks_of(SessionId session, Token after) {
  return wait_for_async<absl::StatusOr<SessionLocks>>(
      *host_, [&](Callback<SessionLocks> done) { locks_of_async(session, after, std::move(done)); });
}

AsyncCall Replica::locks_of_async(SessionId session, Token after, Callback<SessionLocks> done) {
  return begin<absl::StatusOr<SessionLocks>>(
      host_,
      [session, after](Client& client, Callback<SessionLocks> answer) {
        return client.locks_of(session, after, std::move(answer));
      },
      std::move(done));
}

// Counted on the engine's thread, so asked there.
absl::StatusOr<LockStatistics> Replica::lock_statistics() const {
  return wait_for<LockStatistics>(*host_,
                                  [](const Client& client, Callback<LockStatistics> done) { done(client.lock_statistics()); });
}

}  // namespace coordkit

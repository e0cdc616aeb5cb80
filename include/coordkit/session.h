// What a service works with: a session that stays alive, and grants that know when they must no longer be trusted.
//
// A hold belongs to (session, acquire), never to a thread: any thread may use or release it. valid() reads this machine's
// clock and nothing else, so it is right even when the network, the leader or this process's other threads stand still.
// It cannot cover a thread that is paused after asking; pass token() to the protected resource and let that refuse older
// ones (fence.h). Threads: all methods are thread-safe. Lifetime: handles may outlive the replica.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/client/handles.h"
#include "coordkit/client/options.h"
#include "coordkit/types.h"

namespace coordkit {

class Host;
class Session;

inline constexpr Duration kForever = Duration::max();

struct SessionOptions {
  Duration ttl = std::chrono::seconds(5);  // how long after the last sign of life others may get what it held. 50 ms and up
  std::string metadata = {};               // shown to whoever lists sessions; at most 4 KiB
  Duration timeout = std::chrono::seconds(10);  // of the call
  // Every change of phase, in order, each once, on the replica's callback thread.
  absl::AnyInvocable<void(SessionPhase)> on_phase = {};
};

struct LockOptions {
  Duration timeout = kForever;  // how long to wait in line; zero: not at all
  std::string owner = {};       // which thread of control of this session: different owners exclude each other
  std::string value = {};       // shown to whoever asks for the holder; at most 4 KiB
};

// One granted lock. Move-only; going out of scope releases it without waiting.
class Grant {
 public:
  Grant() = default;  // holds nothing: valid() is false
  Grant(Grant&&) noexcept = default;
  Grant& operator=(Grant&&) noexcept;
  ~Grant();

  // May the holder still trust it, by its own clock? False from its own deadline on, long before anybody else is granted.
  bool valid() const;
  // Fencing token: every later grant of any lock of this cluster has a larger one. Never changes.
  Token token() const;
  const std::string& name() const;
  // Stops once when the hold first turns invalid by other means than its release. A session that recovers from jeopardy
  // keeps its holds; valid() then says so, this token stays stopped. Runs stop callbacks on the callback thread.
  std::stop_token lost() const;

  // Releases and waits for the answer. Not valid from this call on, whatever it answers. kAborted: lost before;
  // kFailedPrecondition: released before; kDeadlineExceeded: goes on being released behind the scenes.
  absl::Status release();
  // The same without waiting.
  void release_later();
  void release_async(absl::AnyInvocable<void(absl::Status)> done);
  // Asks the cluster, linearizably, whether this token is still the hold.
  absl::StatusOr<bool> check() const;

 private:
  friend class Session;
  friend struct HandleAccess;
  friend Fence fenced_by(const Grant& grant);
  Grant(Session session, HoldRef hold);
  std::shared_ptr<class SessionHandle> session_;
  HoldRef hold_;
};

// "Only while this grant is the hold": for ProposeOptions::fence. Decided in the log, so it also stops a write that was sent
// in time and arrives too late. A grant that holds nothing makes a fence that is refused.
Fence fenced_by(const Grant& grant);

// A live session. Copyable; copies are the same session, closed when the last copy and the last grant are gone.
class Session {
 public:
  Session() = default;  // no session: every call is kFailedPrecondition

  SessionId id() const;
  Duration ttl() const;  // as granted
  bool valid() const;    // by this machine's own clock
  SessionPhase phase() const;

  // Waits in line for the exclusive lock. kDeadlineExceeded (WaitTimeout): certainly not the owner. kAborted (Lost): the
  // session ended. kFailedPrecondition (Held): timeout zero and somebody has it. kAlreadyExists: this owner holds it or
  // waits for it already. kUnavailable: no leader, no effect. kInvalidArgument: empty name.
  // kResourceExhausted (LimitExceeded): oversize name or value.
  absl::StatusOr<Grant> acquire(std::string name, LockOptions options = {});
  // acquire() without waiting in line.
  absl::StatusOr<Grant> try_acquire(std::string name, LockOptions options = {});
  // The same, answered on the engine's thread: the callback must not block or call blocking methods.
  void acquire_async(std::string name, LockOptions options, absl::AnyInvocable<void(absl::StatusOr<Grant>)> done);

  // Ends the session and everything it holds. Nothing of it is valid from this call on, whatever it answers.
  absl::Status close();

 private:
  friend class Grant;
  friend struct HandleAccess;
  friend class Replica;
  friend class Mutex;
  explicit Session(std::shared_ptr<SessionHandle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<SessionHandle> handle_;
};

}  // namespace coordkit

// Where the calls of sessions and grants run: the replica's host, or the fake of coordkit/testing/fake_session.h. Everything
// the handles of door 1 need from their surroundings is here, so that they are the same handles in both.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/last_words.h"
#include "coordkit/engine/client.h"
#include "coordkit/ports/clock.h"

namespace coordkit {

class HoldUps;

// Whether a call was admitted, and so counts among those in progress until it is answered.
enum class Counts : uint8_t { No, Yes };

class CallRunner {
 public:
  using Call = absl::AnyInvocable<void(Client&)>;

  virtual ~CallRunner() = default;
  // Runs `call` with the client, on the thread of its turns. Calls that release or read go here.
  virtual void call(Call call) = 0;
  // The same for what nobody waits for. It does not wait for the end of a client that stops, which ends all there is: returns
  // the call, not run.
  virtual Call post(Call call) {
    this->call(std::move(call));
    return nullptr;
  }
  // The same for an admitted call, behind all earlier ones.
  virtual void call_in_line(Call call) { this->call(std::move(call)); }
  // Whether one more call may wait and be in progress, and can be answered before its deadline; it leaves when it was answered.
  virtual bool admit(LaggingTime deadline) {
    static_cast<void>(deadline);
    return true;
  }
  enum class Served : uint8_t { No, Yes };
  virtual void leave(Served served) { static_cast<void>(served); }
  virtual bool on_engine_thread() const = 0;
  // Inside of run_callback(), on the thread of its turns: the client, for a call right here. There call() runs what it is given
  // at once as well, so that calls of one thread keep their order. Null elsewhere.
  // Also null for a call that counts, if it would overtake another one or this turn has no room for it.
  virtual Client* client_here(Counts counts) {
    static_cast<void>(counts);
    return nullptr;
  }
  // In an announcement: blocking here for another announcement would wait for itself.
  virtual bool on_callback_thread() const { return false; }
  // On a thread whose executor runs the turns and cannot while it blocks, outside of a turn.
  virtual bool on_executor_thread() const { return false; }
  // Tells what holds up the thread of its turns. Null: nothing ever does.
  virtual const HoldUps* hold_ups() const { return nullptr; }
  virtual const Clock& clock() const = 0;
  // So much later; the end of time, if that is beyond it.
  LaggingTime deadline(Duration timeout) const {
    const LaggingTime now = clock().lagging();
    return timeout > LaggingTime::max() - now ? LaggingTime::max() : now + timeout;
  }
  // This process is a fork of the one that made it: no call may be run.
  virtual bool forked() const { return false; }
  // Runs the callback of a call of this name; an exception is its caller's affair, unless it runs on a thread of ours.
  virtual void run_callback(const char* call, absl::FunctionRef<void()> callback) {
    static_cast<void>(call);
    callback();
  }
  // On the engine's thread: this call of door 1's own (a membership change, a wait for health) has no listener any more.
  virtual void abandon(Ticket call) { static_cast<void>(call); }
  // The answer of a call whose callback was destroyed before the call ended: an allocation failed on its way.
  const absl::Status& unanswered() const { return last_words_.no_memory(); }
  // This thread is about to block until `answered`, or until `deadline`. In virtual time something has to advance the time:
  // true if it did, and nothing is left to wait for.
  virtual bool wait_here(absl::FunctionRef<bool()> answered, LaggingTime deadline = LaggingTime::max()) {
    static_cast<void>(answered), static_cast<void>(deadline);
    return false;
  }

 private:
  const LastWords last_words_;
};

// Where a call begins: its host, and the function that was called ("put_async"), which names its callback to an operator.
struct CallSite {
  template <typename Runner>
  CallSite(std::shared_ptr<Runner> on, const char* function = __builtin_FUNCTION())  // NOLINT: converts, so that it is known
      : host(std::move(on)), call(function) {}

  std::shared_ptr<CallRunner> host;
  const char* call;
};

}  // namespace coordkit

// A stream of calls of one callback of the host's, from its first call to its end. Observations, watches, mirrors and the
// phases of sessions and leases all end here, by the same rules (docs/semantics.md S-66):
//
//   - calls come one at a time, and none begins once end() was called;
//   - end() waits for a call that another thread is in. So when it returns nothing uses what the callback refers to, and what
//     the callback owned is destroyed;
//   - inside of its own call end() waits for nothing. All that the callback owned is destroyed when that call returns.
//
// A callback may be in a blocking call of coordkit's when its stream is ended, and the thread that ends it may be the one that
// has to answer that call. So end() ends the wait: that call returns CancelPending, and so does each later one of the same
// callback. A callback that closes a replica waits for the engine's thread in any case: a turn does not wait for it.
//
// Threads: any. Lifetime: what may still make a call holds the stream.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"

namespace coordkit {

class CallbackStream {
 public:
  CallbackStream() = default;
  virtual ~CallbackStream() = default;
  CallbackStream(const CallbackStream&) = delete;
  CallbackStream& operator=(const CallbackStream&) = delete;

  void end();
  // The same without waiting for a call that another thread is in.
  void end_later();

 protected:
  // One call, if the stream has not ended.
  class Call {
   public:
    explicit Call(CallbackStream& stream) : stream_(stream), begun_(stream.begin()) {}
    ~Call() {
      if (begun_) stream_.leave();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    explicit operator bool() const { return begun_; }

   private:
    CallbackStream& stream_;
    const bool begun_;
  };

 private:
  friend class InterruptibleWait;
  friend void closing_in_callback();
  // Destroys the callback. Runs once, in no call but perhaps within end().
  virtual void drop() = 0;

  bool begin();
  void enter();
  void leave();

  std::mutex mutex_;  // guards the following
  std::condition_variable wake_;
  bool ended_ = false;
  bool dropped_ = false;
  bool closes_ = false;       // the call under way closes a replica
  bool interrupted_ = false;  // another thread ended the stream during the call under way
  int depth_ = 0;             // of calls under way, all of them on one thread
  std::thread::id runner_;
  const std::function<void()>* wait_ = nullptr;  // ends the blocking call that the call under way is in
  CallbackStream* outer_ = nullptr;              // whose call this one is inside of
};

template <typename... Args>
class Listener final : public CallbackStream {
 public:
  explicit Listener(absl::AnyInvocable<void(Args...)> callback) : callback_(std::move(callback)) {}

  void tell(Args... args) {
    if (const Call call(*this); call && callback_) callback_(std::forward<Args>(args)...);
  }

 private:
  void drop() override { callback_ = nullptr; }

  absl::AnyInvocable<void(Args...)> callback_;
};

absl::Status ended_in_wait();  // CancelPending

// The current thread is about to wait for the answer of a blocking call. Within a callback of a stream the end of that stream
// ends the wait.
class InterruptibleWait {
 public:
  // `slot->set()` takes the answer. It is called on any thread.
  template <typename Slot>
  explicit InterruptibleWait(const std::shared_ptr<Slot>& slot) {
    if (in_callback()) begin([slot, why = ended_in_wait()] { slot->set(why); });
  }
  ~InterruptibleWait() {
    if (interrupt_) end();
  }
  InterruptibleWait(const InterruptibleWait&) = delete;
  InterruptibleWait& operator=(const InterruptibleWait&) = delete;

  static bool in_callback();  // of a stream
  bool interrupted() const;

 private:
  void begin(std::function<void()> interrupt);
  void end();

  std::function<void()> interrupt_;
};

// This thread is about to wait for the engine's thread of a replica, which therefore must not wait for its callback.
void closing_in_callback();

}  // namespace coordkit

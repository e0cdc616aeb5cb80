// The dedicated timer of S-52: one thread that sleeps until this process's next validity deadline and notifies the holders
// through the callback thread. It does not depend on the engine's thread, which a slow apply of the host may delay.
//
// Sleeping: a timer that counts suspend (CLOCK_BOOTTIME), so that it fires right after a resume. Time daemons may
// slew that clock but not the deadlines' clock: so it sleeps for seven eighths of the rest and checks again.
#pragma once

#include <mutex>
#include <thread>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "coordkit/client/validity_watch.h"
#include "coordkit/clock.h"
#include "replica/callback_thread.h"

namespace coordkit {

class DeadlineTimer final : public ValidityWatch {
 public:
  DeadlineTimer(const Clock& clock, CallbackThread& callbacks);
  ~DeadlineTimer() override;

  void valid(const SessionRef& session, const OnPhase& on_phase) override;
  void granted(const HoldRef& hold) override;
  void gone(const HoldState& hold) override;
  void lost(SessionId session) override;

  // The client's own announcements, in one order with those made here.
  // Once the callback thread is stopped: returns the task.
  CallbackThread::Task announce(CallbackThread::Task task);
  void stop();  // idempotent; nothing is announced here after it

 private:
  struct Watched {
    SessionRef session;
    OnPhase on_phase;
    std::vector<HoldRef> holds;            // each says where it is; a counted hold has several handles
    LeadingTime due = LeadingTime::max();  // its place in due_; max: in jeopardy
  };
  struct Due {
    LeadingTime at;
    SessionId session;
    const HoldState* hold = nullptr;  // none: the session itself
    friend auto operator<=>(const Due&, const Due&) = default;
  };

  void run();
  void sleep(Duration by);
  void wake();
  void tell_due(LeadingTime now);
  void tell_session(Watched& watched, LeadingTime now);
  void tell_hold(const HoldRef& hold);
  void schedule(const Due& due);

  const Clock& clock_;
  CallbackThread& callbacks_;
  std::mutex mutex_;
  absl::btree_map<SessionId, Watched> sessions_;
  absl::btree_set<Due> due_;
  LeadingTime asleep_until_ = LeadingTime::max();
  bool stopping_ = false;
  int timer_ = -1;  // timerfd
  int event_ = -1;  // eventfd: check again
  std::thread thread_;
};

}  // namespace coordkit

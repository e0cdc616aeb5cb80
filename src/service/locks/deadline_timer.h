// The dedicated timer of S-52: one thread that sleeps until this process's next validity deadline and notifies the holders
// through the callback thread. It does not depend on the engine's thread, which a slow apply of the host may delay.
//
// For each session it keeps nothing but a place in the list of those with the same TTL. One renewal covers all of them, so they
// are mostly due together, and are looked at together when the earliest may be.
//
// Sleeping: a timer that counts suspend (CLOCK_BOOTTIME), so that it fires right after a resume. Time daemons may
// slew that clock but not the deadlines' clock: so it sleeps for seven eighths of the rest and checks again.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "base/descriptor.h"
#include "base/linked.h"
#include "base/thread.h"
#include "coordkit/client/validity_watch.h"
#include "coordkit/ports/clock.h"
#include "service/loop/callback_thread.h"

namespace coordkit {

class DeadlineTimer final : public ValidityWatch {
 public:
  // Throws std::system_error: there is no descriptor, or no thread. `fail`: within `catch (...)`, on the timer's thread: there
  // was no memory to announce that something is over. It is invalid all the same.
  DeadlineTimer(
      const Clock& clock, CallbackThread& callbacks, std::function<void()> fail = [] {});
  ~DeadlineTimer() override;

  std::unique_lock<std::mutex> guard() override { return std::unique_lock(mutex_); }
  void valid(WatchedSession& session) override;
  void lost(WatchedSession& session) override;
  void limited(const HoldRef& hold) override;
  void limit_over(const HoldRef& hold) override;

  // The client's own announcements, in one order with those made here.
  // Once the callback thread is stopped: returns the task.
  CallbackThread::Task announce(CallbackThread::Task task);
  void stop();  // idempotent; nothing is announced here after it

 private:
  // Valid sessions of one TTL.
  struct Class {
    Linked<WatchedSession, &WatchedSession::before, &WatchedSession::after> sessions;
    LeadingTime due = LeadingTime::max();  // its place in due_; not above the deadline of any that is still valid
  };
  using Limit = std::pair<LeadingTime, HoldRef>;
  struct Earlier {
    bool operator()(const Limit& a, const Limit& b) const {
      return a.first != b.first ? a.first < b.first : std::less<>()(a.second.get(), b.second.get());
    }
  };

  void run();
  void sleep(Duration by);
  void wake_for(LeadingTime due);
  void wake();
  LeadingTime next_due() const;
  void tell_due(LeadingTime now);
  LeadingTime tell_class(Class& same_ttl, LeadingTime now);
  void tell_session(WatchedSession& session);
  void tell_hold(const HoldRef& hold);

  const Clock& clock_;
  CallbackThread& callbacks_;
  const std::function<void()> fail_;
  std::mutex mutex_;
  absl::btree_map<Duration, Class> sessions_;              // by TTL; none is empty
  absl::btree_set<std::pair<LeadingTime, Duration>> due_;  // one for each TTL
  absl::btree_set<Limit, Earlier> limits_;                 // holds with a longest time, by its end
  LeadingTime asleep_until_ = LeadingTime::max();
  bool stopping_ = false;
  const Descriptor timer_;  // timerfd
  const Descriptor event_;  // eventfd: check again
  Thread thread_;
};

}  // namespace coordkit

#include "service/locks/deadline_timer.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "client/locks/lent_delegations.h"

namespace coordkit {
namespace {

constexpr Duration kLongestSleep = std::chrono::seconds(3600);
constexpr Duration kCloseEnough = std::chrono::milliseconds(2);  // slewing is invisible below this

Descriptor timer_descriptor() {
  Descriptor timer = open_timer(CLOCK_BOOTTIME);
  return timer ? std::move(timer) : open_timer(CLOCK_MONOTONIC);
}

// std::system_error: there is none.
Descriptor made(Descriptor descriptor, const char* what) {
  if (!descriptor) throw std::system_error(errno, std::generic_category(), what);
  return descriptor;
}

timespec as_timespec(Duration by) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(by);
  return {.tv_sec = seconds.count(), .tv_nsec = (by - seconds).count()};
}

}  // namespace

DeadlineTimer::DeadlineTimer(const Clock& clock, CallbackThread& callbacks, std::function<void()> fail)
    : clock_(clock),
      callbacks_(callbacks),
      fail_(std::move(fail)),
      timer_(made(timer_descriptor(), "timer")),
      event_(made(open_event(), "event")),
      thread_("coordkit/timer", [this] { run(); }) {}

DeadlineTimer::~DeadlineTimer() { stop(); }

void DeadlineTimer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  if (thread_.joinable()) thread_.join();
}

// ---- the client's side

void DeadlineTimer::valid(WatchedSession& session) {
  const LeadingTime deadline = session.state->validity_deadline();
  const std::lock_guard lock(mutex_);
  Class& same_ttl = sessions_[session.state->ttl()];
  if (!session.watched) same_ttl.sessions.append(session);
  session.watched = true;
  if (deadline >= same_ttl.due) return;  // the earlier moment is checked anyway
  due_.erase({same_ttl.due, session.state->ttl()});
  due_.insert({same_ttl.due = deadline, session.state->ttl()});
  wake_for(deadline);
}

void DeadlineTimer::lost(WatchedSession& session) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(session.watched, false)) return;
  const auto same_ttl = sessions_.find(session.state->ttl());
  same_ttl->second.sessions.remove(session);
  if (!same_ttl->second.sessions.empty()) return;
  due_.erase({same_ttl->second.due, same_ttl->first});
  sessions_.erase(same_ttl);
}

void DeadlineTimer::limited(const HoldRef& hold) {
  const std::lock_guard lock(mutex_);
  limits_.emplace(hold->until(), hold);
  wake_for(hold->until());
}

void DeadlineTimer::limit_over(const HoldRef& hold) {
  const std::lock_guard lock(mutex_);
  limits_.erase({hold->until(), hold});
}

// The lock gives all announcements one order: a change is made and posted under it, here and in tell_session().
CallbackThread::Task DeadlineTimer::announce(CallbackThread::Task task) {
  const std::lock_guard lock(mutex_);
  return callbacks_.post(std::move(task));
}

// ---- the thread

void DeadlineTimer::wake_for(LeadingTime due) {
  if (due < asleep_until_) wake();
}

void DeadlineTimer::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);  // full means that a wake-up is pending
}

void DeadlineTimer::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const LeadingTime now = clock_.now().leading;
    try {  // the one place of the thread where what was not expected ends
      tell_due(now);
    } catch (...) {
      fail_();
    }
    asleep_until_ = next_due();
    const bool none = asleep_until_ == LeadingTime::max();
    const Duration rest = none ? kLongestSleep : std::min<Duration>(asleep_until_ - now, kLongestSleep);
    lock.unlock();
    sleep(rest > kCloseEnough ? rest / 8 * 7 : rest);
    lock.lock();
  }
}

void DeadlineTimer::sleep(Duration by) {
  const itimerspec once{.it_interval = {}, .it_value = as_timespec(std::max(by, Duration(1)))};
  ::timerfd_settime(timer_.get(), 0, &once, nullptr);
  pollfd either[] = {{.fd = timer_.get(), .events = POLLIN, .revents = 0},
                     {.fd = event_.get(), .events = POLLIN, .revents = 0}};
  ::poll(either, 2, -1);
  uint64_t count = 0;
  [[maybe_unused]] ssize_t drained = ::read(event_.get(), &count, sizeof count);
  drained = ::read(timer_.get(), &count, sizeof count);
}

LeadingTime DeadlineTimer::next_due() const {
  const LeadingTime next = limits_.empty() ? LeadingTime::max() : limits_.begin()->first;
  return due_.empty() ? next : std::min(next, due_.begin()->first);
}

void DeadlineTimer::tell_due(LeadingTime now) {
  while (!limits_.empty() && limits_.begin()->first <= now) tell_hold(limits_.extract(limits_.begin()).value().second);
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto same_ttl = sessions_.find(due_.extract(due_.begin()).value().second);
    same_ttl->second.due = tell_class(same_ttl->second, now);
    if (same_ttl->second.sessions.empty()) {
      sessions_.erase(same_ttl);
    } else {
      due_.insert({same_ttl->second.due, same_ttl->first});
    }
  }
}

// Those that are not valid any more leave the list, until the client says that they are valid again. Returns when the others
// are to be looked at.
LeadingTime DeadlineTimer::tell_class(Class& same_ttl, LeadingTime now) {
  LeadingTime next_due = LeadingTime::max();
  for (WatchedSession* next = same_ttl.sessions.first; next != nullptr;) {
    WatchedSession& session = *std::exchange(next, next->after);
    const bool expired = session.state->expire(now);  // no: renewed meanwhile, or the client was faster
    if (!expired && session.state->phase() == SessionPhase::Valid) {
      next_due = std::min(next_due, session.state->validity_deadline());
      continue;
    }
    same_ttl.sessions.remove(session);
    session.watched = false;
    if (expired) tell_session(session);
  }
  return next_due;
}

void DeadlineTimer::tell_session(WatchedSession& session) {
  session.holds.each([this](const HoldRef& hold) { tell_hold(hold); });
  if (const Delegations* const lent = session.state->delegations()) {
    for (const HoldRef& hold : lent->in_use()) tell_hold(hold);
  }
  if (session.on_phase) callbacks_.post([tell = session.on_phase] { tell->run(SessionPhase::Jeopardy); });
}

void DeadlineTimer::tell_hold(const HoldRef& hold) {
  callbacks_.post([hold] { hold->report_invalid(); });
}

}  // namespace coordkit

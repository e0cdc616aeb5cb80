#include "replica/deadline_timer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "client/delegations.h"

namespace coordkit {
namespace {

constexpr Duration kLongestSleep = std::chrono::seconds(3600);
constexpr Duration kCloseEnough = std::chrono::milliseconds(2);  // slewing is invisible below this

timespec as_timespec(Duration by) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(by);
  return {.tv_sec = seconds.count(), .tv_nsec = (by - seconds).count()};
}

}  // namespace

DeadlineTimer::DeadlineTimer(const Clock& clock, CallbackThread& callbacks) : clock_(clock), callbacks_(callbacks) {
  timer_ = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (timer_ < 0) timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  COORDKIT_CHECK_MSG(timer_ >= 0 && event_ >= 0, "no timer and no event to be had: are there file descriptors left?");
  thread_ = std::thread([this] { run(); });
}

DeadlineTimer::~DeadlineTimer() {
  stop();
  ::close(timer_);
  ::close(event_);
}

void DeadlineTimer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  if (thread_.joinable()) thread_.join();
}

// ---- the client's side

void DeadlineTimer::valid(const SessionRef& session, const OnPhase& on_phase) {
  const std::lock_guard lock(mutex_);
  Watched& watched = sessions_[session->id()];
  watched.session = session;
  watched.on_phase = on_phase;
  if (watched.due != LeadingTime::max()) return;  // checked again when it comes
  watched.due = session->validity_deadline();
  schedule({watched.due, session->id(), {}});
}

void DeadlineTimer::granted(const HoldRef& hold) {
  const SessionId session = hold->session()->id();
  const std::lock_guard lock(mutex_);
  std::vector<HoldRef>& holds = sessions_[session].holds;
  hold->set_watched_at(holds.size());
  holds.push_back(hold);
  if (hold->until() != LeadingTime::max()) schedule({hold->until(), session, hold.get()});
}

void DeadlineTimer::gone(const HoldState& hold) {
  const SessionId session = hold.session()->id();
  const std::lock_guard lock(mutex_);
  const auto watched = sessions_.find(session);
  if (watched == sessions_.end()) return;
  std::vector<HoldRef>& holds = watched->second.holds;
  const size_t place = hold.watched_at();
  if (place >= holds.size() || holds[place].get() != &hold) return;
  if (hold.until() != LeadingTime::max()) due_.erase({hold.until(), session, &hold});
  holds.back()->set_watched_at(place);
  std::swap(holds[place], holds.back());
  holds.pop_back();
}

void DeadlineTimer::lost(SessionId session) {
  const std::lock_guard lock(mutex_);
  const auto watched = sessions_.find(session);
  if (watched == sessions_.end()) return;
  for (const HoldRef& hold : watched->second.holds) due_.erase({hold->until(), session, hold.get()});
  due_.erase({watched->second.due, session, {}});
  sessions_.erase(watched);
}

// The lock gives all announcements one order: a change is made and posted under it, here and in tell_session().
CallbackThread::Task DeadlineTimer::announce(CallbackThread::Task task) {
  const std::lock_guard lock(mutex_);
  return callbacks_.post(std::move(task));
}

void DeadlineTimer::schedule(const Due& due) {
  due_.insert(due);
  if (due.at < asleep_until_) wake();
}

// ---- the thread

void DeadlineTimer::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_, &one, sizeof one);  // full means that a wake-up is pending
}

void DeadlineTimer::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const LeadingTime now = clock_.now().leading;
    tell_due(now);
    asleep_until_ = due_.empty() ? LeadingTime::max() : due_.begin()->at;
    const Duration rest = due_.empty() ? kLongestSleep : std::min<Duration>(asleep_until_ - now, kLongestSleep);
    lock.unlock();
    sleep(rest > kCloseEnough ? rest / 8 * 7 : rest);
    lock.lock();
  }
}

void DeadlineTimer::sleep(Duration by) {
  const itimerspec once{.it_interval = {}, .it_value = as_timespec(std::max(by, Duration(1)))};
  ::timerfd_settime(timer_, 0, &once, nullptr);
  pollfd either[] = {{.fd = timer_, .events = POLLIN, .revents = 0}, {.fd = event_, .events = POLLIN, .revents = 0}};
  ::poll(either, 2, -1);
  uint64_t count = 0;
  [[maybe_unused]] ssize_t drained = ::read(event_, &count, sizeof count);
  drained = ::read(timer_, &count, sizeof count);
}

void DeadlineTimer::tell_due(LeadingTime now) {
  while (!due_.empty() && due_.begin()->at <= now) {
    const Due due = *due_.begin();
    due_.erase(due_.begin());
    const auto watched = sessions_.find(due.session);
    if (watched == sessions_.end()) continue;
    if (due.hold) {
      tell_hold(watched->second.holds[due.hold->watched_at()]);
    } else {
      tell_session(watched->second, now);
    }
  }
}

void DeadlineTimer::tell_session(Watched& watched, LeadingTime now) {
  watched.due = LeadingTime::max();
  SessionState& session = *watched.session;
  if (!session.expire(now)) {  // renewed meanwhile, or the client was faster
    if (session.phase() != SessionPhase::Valid) return;
    watched.due = session.validity_deadline();
    due_.insert({watched.due, session.id(), {}});
    return;
  }
  for (const HoldRef& hold : watched.holds) tell_hold(hold);
  if (session.delegations()) {
    for (const HoldRef& hold : session.delegations()->in_use()) tell_hold(hold);
  }
  if (watched.on_phase) callbacks_.post([tell = watched.on_phase] { (*tell)(SessionPhase::Jeopardy); });
}

void DeadlineTimer::tell_hold(const HoldRef& hold) {
  callbacks_.post([hold] { hold->report_invalid(); });
}

}  // namespace coordkit

#include "service/calls/call_admission.h"

#include <algorithm>

namespace coordkit {
namespace {

// A burst may wait this long: the callers after it wait for all of it.
constexpr Duration kWaitMax = std::chrono::milliseconds(500);
// While more is requested than can be done, a longer queue gives nobody an answer sooner, and is slower to work through: what
// it holds no longer fits the caches.
constexpr Duration kWaitMaxOverloaded = std::chrono::milliseconds(10);

}  // namespace

// Checked before it is counted, so that refused callers write nothing that others read.
bool CallAdmission::enter(LaggingTime deadline, const Clock& clock) {
  if (inside() >= kInsideMax || !in_time(deadline, clock)) return false;
  if (inside_.fetch_add(1, std::memory_order_relaxed) < kInsideMax) return true;
  inside_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

bool CallAdmission::in_time(LaggingTime deadline, const Clock& clock) {
  const size_t calls = ahead();
  const Duration wait = per_call() * static_cast<Duration::rep>(calls);
  if (calls < kNeverLong || wait == Duration::zero()) return true;
  if (wait > (overloaded() ? kWaitMaxOverloaded : kWaitMax)) {
    if (!queue_full_.load(std::memory_order_relaxed)) queue_full_.store(true, std::memory_order_relaxed);
    return false;
  }
  return deadline == LaggingTime::max() || wait <= (deadline - clock.lagging()) / 2;
}

void CallAdmission::left(bool served) {
  if (served) served_.fetch_add(1, std::memory_order_relaxed);
  inside_.fetch_sub(1, std::memory_order_relaxed);
}

void CallAdmission::turned(LaggingTime now, size_t unanswered) {
  unanswered_.store(unanswered, std::memory_order_relaxed);
  const bool crowded = ahead() >= kNeverLong;
  if (looked_ != LaggingTime::min() && now - looked_ < kLook) {
    crowded_before_ = crowded_before_ && crowded;
    return;
  }
  const uint64_t served = served_.load(std::memory_order_relaxed);
  const uint64_t fresh = served - served_before_;
  if (crowded_before_ && fresh > 0) {
    paces_[newest_++ % kLooks] = std::max((now - looked_) / static_cast<Duration::rep>(fresh), Duration(1));
    Duration best = Duration::max();
    for (const Duration pace : paces_) best = pace == Duration::zero() ? best : std::min(best, pace);
    per_call_.store(best.count(), std::memory_order_relaxed);
  }
  full_looks_ = queue_full_.exchange(false, std::memory_order_relaxed) ? full_looks_ + 1 : 0;
  overloaded_.store(full_looks_ >= kOverloadedAfter, std::memory_order_relaxed);
  looked_ = now;
  served_before_ = served;
  crowded_before_ = crowded;
}

}  // namespace coordkit

#include "bench/cluster/pacer.h"

#include <sys/prctl.h>

#include <cmath>
#include <utility>

#include "bench/cluster/processor_time.h"

namespace coordkit::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned long kSlackNs = 1000;  // the kernel's own would make each operation late by 50 us

uint64_t planned_of(double per_s, Clock::duration length) {
  return static_cast<uint64_t>(std::ceil(per_s * std::chrono::duration<double>(length).count()));
}

}  // namespace

Pacer::Pacer(Plan plan) : plan_(plan), planned_(planned_of(plan.per_s, plan.end - plan.first)) {
  thread_ = std::thread([this] { run(); });
}

Pacer::~Pacer() { thread_.join(); }

Pacer::TimePoint Pacer::due(uint64_t number) const {
  return plan_.first +
         std::chrono::duration_cast<Duration>(std::chrono::duration<double>(static_cast<double>(number) / plan_.per_s));
}

uint64_t Pacer::never_begun() const {
  const std::lock_guard lock(mutex_);
  return planned_ - begun_;
}

double Pacer::cores() const {
  const std::lock_guard lock(mutex_);
  return processor_s_ / std::chrono::duration<double>(plan_.end - plan_.first).count();
}

void Pacer::wait(Start start, Ended ended) {
  const TimePoint now = Clock::now();
  std::unique_lock lock(mutex_);
  over_ = over_ || now >= last_begin();
  if (over_) {
    lock.unlock();
    return std::move(ended)();
  }
  if (overdue(now)) {
    const TimePoint from = due(begun_++);
    lock.unlock();
    return std::move(start)(from);
  }
  free_.push_back({std::move(start), std::move(ended)});
  lock.unlock();
  changed_.notify_one();
}

void Pacer::run() {
  prctl(PR_SET_TIMERSLACK, kSlackNs);
  for (std::unique_lock lock(mutex_); begun_ < planned_ && !over_;) {
    if (!changed_.wait_until(lock, last_begin(), [this] { return !free_.empty(); })) break;
    if (begun_ == planned_) break;
    if (begin_next(lock)) continue;
    const TimePoint next = due(begun_);
    lock.unlock();
    std::this_thread::sleep_until(next);
    lock.lock();
  }
  finish();
}

// False: it is not due yet.
bool Pacer::begin_next(std::unique_lock<std::mutex>& lock) {
  if (!overdue(Clock::now())) return false;
  const TimePoint from = due(begun_++);
  Caller caller = std::move(free_.front());
  free_.pop_front();
  lock.unlock();
  std::move(caller.start)(from);
  lock.lock();
  return true;
}

void Pacer::finish() {
  std::deque<Caller> idle;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    processor_s_ = processor_seconds();
    idle.swap(free_);
  }
  for (Caller& caller : idle) {
    caller.start = nullptr;  // it may own this object, which must not end on its own thread
    std::move(caller.ended)();
  }
}

}  // namespace coordkit::bench

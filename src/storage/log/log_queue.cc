#include "storage/log/log_queue.h"

#include <iterator>

namespace coordkit::storage {
namespace {

constexpr auto kLookAgain = std::chrono::milliseconds(20);  // whether a mark is due, while another thread works

}  // namespace

void LogQueue::post(Task&& task) {
  {
    std::unique_lock lock(mutex_);
    if (failed_) {
      lock.unlock();
      return drop(task);
    }
    if (closing_ && !std::holds_alternative<SpareMade>(task)) return;
    deferred_ = false;  // the store's own thread takes that write too
    waiting_.push_back(std::move(task));
  }
  wakes_.notify_one();
}

void LogQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wakes_.notify_one();
}

bool LogQueue::next_deferred(Tasks& tasks) {
  const std::lock_guard lock(mutex_);
  if (!deferred_ || closing_) return false;
  worker_ = Worker::Lent;
  deferred_ = false;
  tasks.swap(waiting_);
  return true;
}

void LogQueue::done(const Rest& rest) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    worker_ = Worker::None;
    rest_ = rest;
    wake = closing_ || failed_ || !waiting_.empty() || (sleeps_untimed_ && rest.due);
  }
  if (wake) wakes_.notify_one();
}

bool LogQueue::next(const Rest& rest, Tasks& tasks) {
  std::unique_lock lock(mutex_);
  worker_ = Worker::None;
  rest_ = rest;
  for (;;) {
    // The end of what a lent thread does wakes this one if there is work; a mark can wait.
    const bool lent = worker_ == Worker::Lent;
    const std::optional<Clock::time_point> at = lent ? Clock::now() + kLookAgain : rest_.due;
    if (!lent && (wanted() || (at && *at <= Clock::now()))) break;
    sleeps_untimed_ = !at;
    at ? void(wakes_.wait_until(lock, *at)) : wakes_.wait(lock);
  }
  sleeps_untimed_ = deferred_ = false;
  if (failed_ || (closing_ && (rest_.stalled || waiting_.empty()))) return false;
  worker_ = Worker::Own;
  if (waiting_.empty() && !rest_.stalled) tasks.push_back(Mark{});
  take(tasks);
  return true;
}

bool LogQueue::fail() {
  const std::lock_guard lock(mutex_);
  if (failed_) return false;
  failed_ = true;
  return true;
}

void LogQueue::drop_all() {
  for (; !waiting_.empty(); waiting_.pop_front()) drop(waiting_.front());  // nothing is added any more
}

void LogQueue::take(Tasks& tasks) {
  std::move(waiting_.begin(), waiting_.end(), std::back_inserter(tasks));
  waiting_.clear();
}

// A caller that scrubs waits for an answer, even from a store that has failed: there is nothing more to check.
void LogQueue::drop(const Task& task) {
  if (const Scrub* scrub = std::get_if<Scrub>(&task)) scrub->done({});
}

}  // namespace coordkit::storage

#include "service/loop/callback_thread.h"

#include <utility>

namespace coordkit {
namespace {

thread_local const CallbackThread* this_threads = nullptr;

}  // namespace

bool CallbackThread::runs_here() const { return this_threads == this; }

CallbackThread::Task CallbackThread::post(Task task) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return task;
    first = tasks_.empty();
    tasks_.push_back(std::move(task));
  }
  if (first) wake_.notify_one();  // otherwise it is awake
  return nullptr;
}

void CallbackThread::run() {
  this_threads = this;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    taken_.swap(tasks_);
    lock.unlock();
    for (; !taken_.empty(); taken_.pop_front()) run_one_(std::move(taken_.front()));  // user state dies outside the lock
    lock.lock();
  }
}

void CallbackThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (runs_here()) return;
  const std::lock_guard lock(joining_);
  if (thread_.joinable()) thread_.join();
}

}  // namespace coordkit

#include "service/shell/closing.h"

#include "service/calls/waiting.h"

namespace coordkit {

bool Closing::begin(Duration drain) {
  std::unique_lock lock(mutex_);
  const std::thread::id nobody;
  if (closer_ != nobody) return false;
  if (loop_.begun() && drain > Duration::zero()) {
    draining_ = true;
    lock.unlock();
    loop_.wake();
    lock.lock();
    wait_up_to(wake_, lock, drain, [&] { return drained_; });
  }
  if (closer_ != nobody) return false;
  closer_ = std::this_thread::get_id();
  return true;
}

void Closing::drained() {
  const std::lock_guard lock(mutex_);
  drained_ = true;
  wake_.notify_all();
}

void Closing::closed() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  wake_.notify_all();
}

void Closing::wait() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return closed_; });
}

bool Closing::closes_here() {
  const std::lock_guard lock(mutex_);
  return closer_ == std::this_thread::get_id() && !closed_;
}

}  // namespace coordkit

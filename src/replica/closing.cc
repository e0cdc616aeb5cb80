#include "replica/closing.h"

#include <utility>

namespace coordkit {

bool Closing::begin(Duration drain) {
  std::unique_lock lock(mutex_);
  if (closing_) return false;
  if (loop_.begun() && drain > Duration::zero()) {
    draining_ = true;
    lock.unlock();
    loop_.wake();
    lock.lock();
    drained_wake_.wait_for(lock, drain, [&] { return drained_; });
  }
  return !std::exchange(closing_, true);
}

void Closing::drained() {
  const std::lock_guard lock(mutex_);
  drained_ = true;
  drained_wake_.notify_all();
}

}  // namespace coordkit

#include "service/loop/busy_poll.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace coordkit {
namespace {

constexpr uint32_t kTries = 4;  // in vain, one after the other, before the first rest
constexpr uint32_t kRests = 6;  // of 1, 3, 7 ... 63 handlers; further ones are like the last

}  // namespace

size_t BusyPoll::run_one() {
  if (longest_ == Duration::zero()) return io_.run_one();
  if (resting_ > 0) {
    --resting_;
    return io_.run_one();
  }
  if (const size_t ran = io_.poll_one()) return ran;  // it need not be waited for
  if (const size_t ran = look()) {
    in_vain_ = 0;
    ++looks_.found;
    return ran;
  }
  in_vain_ = std::min(in_vain_ + 1, kTries + kRests - 1);
  resting_ = in_vain_ < kTries ? 0 : (2u << (in_vain_ - kTries)) - 1;
  ++looks_.in_vain;
  return io_.run_one();
}

size_t BusyPoll::look() {
  const auto end = std::chrono::steady_clock::now() + longest_;
  do {
    std::this_thread::yield();
    if (const size_t ran = io_.poll_one()) return ran;
  } while (!io_.stopped() && std::chrono::steady_clock::now() < end);
  return 0;
}

}  // namespace coordkit

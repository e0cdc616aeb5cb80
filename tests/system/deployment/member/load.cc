#include "tests/system/deployment/member/load.h"

#include <algorithm>
#include <chrono>

#include "coordkit/error.h"

namespace coordkit::testkit {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string microseconds(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

}  // namespace

std::string Times::summary() const {
  if (times_.empty()) return "0 0 0 0";
  std::vector<Duration> sorted = times_;
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](size_t percent) { return microseconds(sorted[(sorted.size() - 1) * percent / 100]); };
  return std::to_string(sorted.size()) + " " + at(50) + " " + at(99) + " " + at(100);
}

Load::Load(Replica& replica, std::string prefix)
    : replica_(replica), prefix_(std::move(prefix)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Load::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Load::run(const std::stop_token& stop) {
  Clock::time_point last = Clock::now();
  for (uint64_t number = 1; !stop.stop_requested(); ++number) {
    const auto put = replica_.put(prefix_ + std::to_string(number), std::to_string(number), {.timeout = 5s});
    if (put.ok()) {
      const Clock::time_point now = Clock::now();
      gaps_.add(now - last);
      last = now;
      acknowledged(number);
      continue;
    }
    ++(outcome_of(put.status()) == Outcome::Unknown ? unknown_ : refused_);
    std::this_thread::sleep_for(5ms);  // refusals come at once, and retrying at once helps no one
  }
}

void Load::acknowledged(uint64_t number) {
  if (acknowledged_.empty() || acknowledged_.back().last + 1 != number) acknowledged_.push_back({number, number});
  acknowledged_.back().last = number;
}

std::string Load::report() const {
  std::string runs;
  for (const Run& run : acknowledged_) {
    runs += (runs.empty() ? "" : ",") + std::to_string(run.first) + "-" + std::to_string(run.last);
  }
  return gaps_.summary() + " " + std::to_string(unknown_) + " " + std::to_string(refused_) + " " + runs;
}

}  // namespace coordkit::testkit

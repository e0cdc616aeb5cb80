#include "compare/redlock.h"

#include <utility>

namespace coordkit::sim::compare {
namespace {

using std::chrono::milliseconds;

constexpr Duration kServerTimeout = milliseconds(50);
constexpr Duration kRetryMax = milliseconds(200);
constexpr Duration kServerPrecision = milliseconds(2);
constexpr int64_t kDriftDivisor = 100;

}  // namespace

bool RedisNode::set_if_absent(uint64_t value, Duration ttl) {
  if (value_ != 0 && time_of_day() < expires_) return false;
  value_ = value;
  expires_ = time_of_day() + ttl;
  return true;
}

void RedisNode::remove_if(uint64_t value) {
  if (value_ == value) value_ = 0;
}

void Redlock::acquire(std::function<void()> granted) {
  granted_ = std::move(granted);
  attempt();
}

void Redlock::attempt() {
  value_ = ++attempts_ * kMachines + machine_ + 1;
  answers_ = yes_ = 0;
  undecided_ = true;
  began_ = scene_.reading(machine_);
  for (uint32_t server = 0; server < kMachines; ++server) {
    scene_.request(machine_, server, [this, server, value = value_] {
      const bool yes = nodes_[server].set_if_absent(value, ttl_);
      scene_.respond(machine_, server, [this, value, yes] { answered(value, yes); });
    });
  }
  scene_.process(machine_).after(kServerTimeout, [this, value = value_] {
    if (value == value_ && undecided_) decide();
  });
}

void Redlock::answered(uint64_t value, bool yes) {
  if (value != value_ || !undecided_) return;
  yes_ += yes ? 1 : 0;
  if (++answers_ == kMachines) decide();
}

void Redlock::decide() {
  undecided_ = false;
  const LeadingTime valid_until = began_ + ttl_ - ttl_ / kDriftDivisor - kServerPrecision;
  if (yes_ > kMachines / 2 && scene_.reading(machine_) < valid_until) {
    valid_until_ = valid_until;
    held_ = true;
    return std::exchange(granted_, nullptr)();
  }
  take_back();
  ClientProcess& process = scene_.process(machine_);
  process.after(process.up_to(kRetryMax), [this] { attempt(); });
}

void Redlock::release() {
  if (std::exchange(held_, false)) take_back();
}

// It releases on all servers: one whose answer was lost may have said yes.
void Redlock::take_back() {
  for (uint32_t server = 0; server < kMachines; ++server) {
    scene_.request(machine_, server, [this, server, value = value_] { nodes_[server].remove_if(value); });
  }
}

}  // namespace coordkit::sim::compare

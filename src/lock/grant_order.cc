#include "lock/grant_order.h"

#include <algorithm>

namespace coordkit::lock {
namespace {

bool queued_later(const std::pair<Index, Claim*>& a, const std::pair<Index, Claim*>& b) { return a.first > b.first; }

}  // namespace

bool grantable(const Claim& waiter) {
  const auto next_in_line = [](const Place& place) {
    return place.before == nullptr && admits(*place.lock, place.mode) && place.lock->delay == 0;
  };
  return std::ranges::all_of(waiter.places(), next_in_line);
}

void GrantOrder::nominate(const Lock& lock) {
  if (lock.queue.empty()) return;
  Claim& head = lock.queue.first->claim();
  candidates_.emplace_back(head.since, &head);
  std::ranges::push_heap(candidates_, queued_later);
}

Claim* GrantOrder::next() {
  while (!candidates_.empty()) {
    std::ranges::pop_heap(candidates_, queued_later);
    Claim* next = candidates_.back().second;
    candidates_.pop_back();
    if (!next->held() && grantable(*next)) return next;
  }
  return nullptr;
}

}  // namespace coordkit::lock

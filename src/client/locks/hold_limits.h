// Holds with a maximum time (docs/semantics.md S-51). It is measured here, from the moment when the grant is known here, by
// the clock that counts suspend. The leader has no such timer: if this process is dead or cut off, its session expires.
#pragma once

#include <algorithm>
#include <utility>

#include "absl/container/btree_map.h"
#include "coordkit/client/validity_watch.h"

namespace coordkit::client {

class HoldLimits {
 public:
  // Null: there is no watch that would notify holders between two turns.
  explicit HoldLimits(ValidityWatch* watch) : watch_(watch) {}

  void add(const HoldRef& hold) {
    if (hold->until() == LeadingTime::max()) return;  // it has none
    holds_.emplace(hold->until(), hold);
    if (watch_ != nullptr) watch_->limited(hold);
  }
  void remove(const HoldRef& hold) {
    if (hold->until() == LeadingTime::max()) return;
    const auto [first, last] = holds_.equal_range(hold->until());
    const auto found = std::find_if(first, last, [&hold](const auto& each) { return each.second == hold; });
    if (found != last) holds_.erase(found);
    if (watch_ != nullptr) watch_->limit_over(hold);
  }
  // Null: no hold has passed its limit.
  HoldRef take_over(LeadingTime now) {
    if (holds_.empty() || holds_.begin()->first > now) return nullptr;
    return std::move(holds_.extract(holds_.begin()).mapped());
  }
  LeadingTime next() const { return holds_.empty() ? LeadingTime::max() : holds_.begin()->first; }
  void clear() { holds_.clear(); }

 private:
  ValidityWatch* watch_;
  absl::btree_multimap<LeadingTime, HoldRef> holds_;  // by the end of their maximum time
};

}  // namespace coordkit::client

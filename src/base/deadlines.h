// Deadlines of things that mostly end earlier. An ended one stays until its deadline, or until ended ones are the majority; the
// owner says for each whether it is still valid. So adding and ending cost little, and in a steady state nothing is allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "coordkit/clock.h"

namespace coordkit {

// `stands(deadline, id)`, wherever it is a parameter: it has not ended, and that is still its deadline. Equal deadlines are
// ordered by id. A deadline of max() is none.
template <typename Id>
class Deadlines {
 public:
  void add(LaggingTime at, Id id) {
    if (at == LaggingTime::max()) return;
    heap_.emplace_back(at, id);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  // One that was added has ended, or has a different deadline now.
  template <typename Valid>
  void ended(Valid valid) {
    if (++ended_ > heap_.size() / 2 + kEndedKept) {
      std::erase_if(heap_, [&](const Entry& entry) { return !valid(entry.first, entry.second); });
      std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
      ended_ = 0;
    } else {
      drop_ended(valid);
    }
  }
  // The first one that is still valid and due by now, removed.
  template <typename Valid>
  std::optional<Id> take_due(LaggingTime now, Valid valid) {
    drop_ended(valid);
    if (heap_.empty() || heap_.front().first > now) return std::nullopt;
    return pop();
  }
  // The earliest; max(): there is none. It may be too early, never too late.
  LaggingTime next() const { return heap_.empty() ? LaggingTime::max() : heap_.front().first; }
  size_t size() const { return heap_.size(); }  // with those that have ended
  void clear() {
    heap_.clear();
    ended_ = 0;
  }

 private:
  using Entry = std::pair<LaggingTime, Id>;
  static constexpr size_t kEndedKept = 64;

  Id pop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const Id id = heap_.back().second;
    heap_.pop_back();
    return id;
  }
  template <typename Valid>
  void drop_ended(Valid valid) {
    while (!heap_.empty() && !valid(heap_.front().first, heap_.front().second)) {
      pop();
      if (ended_ > 0) --ended_;
    }
  }

  std::vector<Entry> heap_;
  size_t ended_ = 0;  // in the heap, approximately
};

}  // namespace coordkit

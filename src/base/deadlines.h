// Deadlines of things that mostly end earlier. The deadline of an ended thing stays until it passes, or until ended ones are
// the majority. The owner says for each whether it is still valid. So adding and ending cost little, and in a steady state
// nothing is allocated. Things of a kind mostly have the same timeout, so their deadlines come in order. Those that do are
// kept in a line, the others in a heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/ring.h"
#include "coordkit/ports/clock.h"

namespace coordkit {

// `valid(deadline, id)`, wherever it is a parameter, says whether it has not ended and still has that deadline. Equal
// deadlines are ordered by id. A deadline of max() is no deadline.
template <typename Id>
class Deadlines {
 public:
  void add(LaggingTime at, Id id) {
    if (at == LaggingTime::max()) return;
    const Entry entry(at, id);
    if (line_.empty() || line_.back() < entry) {
      line_.push_back(entry);
    } else {
      heap_.push_back(entry);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }
  // Called when something that was added has ended, or has another deadline now.
  template <typename Valid>
  void ended(Valid valid) {
    if (++ended_ > size() / 2 + kEndedKept) {
      for (size_t left = line_.size(); left > 0; --left) {
        const Entry entry = line_.take_front();
        if (valid(entry.first, entry.second)) line_.push_back(entry);
      }
      std::erase_if(heap_, [&](const Entry& entry) { return !valid(entry.first, entry.second); });
      std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
      ended_ = 0;
    } else {
      drop_ended(valid);
    }
  }
  // Removes and returns the first id that is still valid and due by now.
  template <typename Valid>
  std::optional<Id> take_due(LaggingTime now, Valid valid) {
    drop_ended(valid);
    if (size() == 0 || first().first > now) return std::nullopt;
    const Id id = first().second;
    pop();
    return id;
  }
  // The earliest deadline; max(): there is none. It may be too early, never too late.
  LaggingTime next() const { return size() == 0 ? LaggingTime::max() : first().first; }
  size_t size() const { return line_.size() + heap_.size(); }  // including those that have ended
  void clear() {
    line_.clear();
    heap_.clear();
    ended_ = 0;
  }

 private:
  using Entry = std::pair<LaggingTime, Id>;
  static constexpr size_t kEndedKept = 64;

  // There must be an entry.
  bool first_in_line() const { return heap_.empty() || (!line_.empty() && line_.front() < heap_.front()); }
  const Entry& first() const { return first_in_line() ? line_.front() : heap_.front(); }
  void pop() {
    if (first_in_line()) return line_.pop_front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
  template <typename Valid>
  void drop_ended(Valid valid) {
    while (size() > 0 && !valid(first().first, first().second)) {
      pop();
      if (ended_ > 0) --ended_;
    }
  }

  Ring<Entry> line_;  // I: ascending
  std::vector<Entry> heap_;
  size_t ended_ = 0;  // approximately, among all that are kept
};

}  // namespace coordkit

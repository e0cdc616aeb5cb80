#include "raft/log/retention.h"

#include <algorithm>

namespace coordkit::raft {

Retention::Retention(const Options& options, Index base, Position checkpoint)
    : checkpoint_(checkpoint),
      retained_(base, options.log_retained_bytes),
      pinnable_(base, options.log_pinned_bytes),
      lag_(base, options.follower_lag_bytes_max) {}

void Retention::append(Index index, size_t bytes) {
  for (LogWeight* weight : {&retained_, &pinnable_, &lag_}) weight->append(index, bytes);
}

void Retention::truncate_after(Index index) {
  for (LogWeight* weight : {&retained_, &pinnable_, &lag_}) weight->truncate_after(index);
}

void Retention::compact(Index through) {
  for (LogWeight* weight : {&retained_, &pinnable_, &lag_}) weight->compact(through);
}

void Retention::reset(Index base) {
  for (LogWeight* weight : {&retained_, &pinnable_, &lag_}) weight->reset(base);
}

void Retention::checkpointed(const Checkpointed& checkpoint, Index commit) {
  if (checkpoint.applied.index > checkpoint_.index && checkpoint.applied.index <= commit) checkpoint_ = checkpoint.applied;
  unreadable_ = std::max(unreadable_, checkpoint.unreadable);
}

void Retention::installed(Position at) {
  if (at.index > checkpoint_.index) checkpoint_ = at;
}

// Removes the entries that all members have durably, and those that exceed the budget for members that lack them. A peer that
// catches up, by log or by state, finds the entries that it needs next. There are two exceptions: it takes so long that they
// outgrow the larger budget, or they are damaged on this disk.
Index Retention::removable(Index everyone_has, Index needed) const {
  const Index through = std::max({everyone_has, retained_.beyond_budget(), unreadable_});
  return std::min(through, std::max({needed, pinnable_.beyond_budget(), unreadable_}));
}

}  // namespace coordkit::raft

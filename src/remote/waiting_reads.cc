#include "remote/waiting_reads.h"

#include <algorithm>

#include "machine/questions.h"

namespace coordkit::remote {
namespace {

// A range without key and end is that of every key.
std::string_view end_of(const machine::ChangesAfter& range) {
  return range.key.empty() && range.end.empty() ? kNoEnd : std::string_view(range.end);
}

}  // namespace

// ---- those that wait

void WaitingReads::add(const Asker& asker, machine::ChangesAfter place, Index at_least, LaggingTime limit) {
  const bool fresh = waiters_.try_emplace(asker, Waiter{std::move(place), at_least, limit, {}}).second;
  if (!fresh) return;
  fresh_.insert({at_least, asker});
  ++counts_[asker.remote];
}

void WaitingReads::withdraw(const Asker& asker) {
  const auto found = waiters_.find(asker);
  if (found == waiters_.end()) return;
  const Waiter& waiter = found->second;
  fresh_.erase({waiter.at_least, asker});
  limits_.erase({waiter.limit, asker});
  if (waiter.group) leave(asker, waiter.group);
  waiters_.erase(found);
  if (const auto count = counts_.find(asker.remote); --count->second == 0) counts_.erase(count);
}

void WaitingReads::withdraw_all(ReplicaId remote) {
  for (;;) {
    const auto first = waiters_.lower_bound(Asker{remote, 0});
    if (first == waiters_.end() || first->first.remote != remote) return;
    withdraw(Asker(first->first));
  }
}

void WaitingReads::join(const Asker& asker, Waiter& waiter) {
  Range range = waiter.place;
  range.sub = 0;
  if (range.from.value() <= seen_.value() + 1) range.from = Revision();
  const auto [at, fresh] = by_range_.try_emplace(range, WatchId(last_group_ + 1));
  if (fresh) {
    ++last_group_;
    index_.add(at->second, range.key, end_of(range));
    groups_.emplace(at->second, Group{std::move(range), {}});
  }
  groups_.find(at->second)->second.askers.insert(asker);
  waiter.group = at->second;
  limits_.insert({waiter.limit, asker});
}

void WaitingReads::leave(const Asker& asker, WatchId group) {
  const auto found = groups_.find(group);
  found->second.askers.erase(asker);
  if (!found->second.askers.empty()) return;
  const Range& range = found->second.range;
  index_.remove(group, range.key, end_of(range));
  by_range_.erase(range);
  groups_.erase(found);
}

// ---- after a turn

std::vector<WaitingReads::Answer> WaitingReads::serve(const machine::Reads& state, Index applied, LaggingTime now) {
  if (waiters_.empty()) return {};
  serve_groups(state);
  take_fresh(state, applied);
  expire(state, now);
  pieces_.clear();
  return std::exchange(answers_, {});
}

void WaitingReads::serve_groups(const machine::Reads& state) {
  const Revision newest = state.key_space().revision;
  if (newest > seen_ || restored_) {
    for (const WatchId id : touched(state)) serve_group(id, state);
  }
  seen_ = newest;
  restored_ = false;
}

// The groups with something new, and after a change of the state all of them.
absl::btree_set<WatchId> WaitingReads::touched(const machine::Reads& state) const {
  absl::btree_set<WatchId> found;
  machine::ChangesAfter front{.from = Revision(seen_.value() + 1), .sub = 0, .key = {}, .end = {}, .previous = false};
  bool whole = restored_;
  while (!groups_.empty() && !whole) {
    const machine::Changes piece = state.changes(front);
    for (const machine::ChangeRow& row : piece.changes) {
      index_.visit(row.entry.key, [&](WatchId id) { found.insert(id); });
    }
    if (piece.at_end()) return found;
    whole = piece.gone;
    front.from = piece.next;
    front.sub = piece.next_sub;
  }
  for (const auto& [id, group] : groups_) found.insert(id);
  return found;
}

// Where those continue that have seen everything up to `seen_`.
machine::ChangesAfter WaitingReads::place_of(const Range& range) const {
  machine::ChangesAfter place = range;
  place.from = std::max(range.from, Revision(seen_.value() + 1));
  return place;
}

void WaitingReads::serve_group(WatchId id, const machine::Reads& state) {
  const Group& group = groups_.find(id)->second;
  const SharedBytes* const found = piece(place_of(group.range), state);
  if (found == nullptr) return;
  for (const Asker& asker : absl::btree_set<Asker>(group.askers)) answer(asker, *found);
}

// One that has passed the end of history joins a group, any other is answered. Those of one place share an answer.
void WaitingReads::take_fresh(const machine::Reads& state, Index applied) {
  while (ready(applied)) {
    const Asker asker = fresh_.begin()->second;
    fresh_.erase(fresh_.begin());
    Waiter& waiter = waiters_.find(asker)->second;
    const SharedBytes* const found = waiter.place.from > seen_ ? nullptr : piece(waiter.place, state);
    found != nullptr ? answer(asker, *found) : join(asker, waiter);
  }
}

// The answer has no change, and says how far history is.
void WaitingReads::expire(const machine::Reads& state, LaggingTime now) {
  while (!limits_.empty() && limits_.begin()->first <= now) {
    const Asker asker = limits_.begin()->second;
    const machine::ChangesAfter place = place_of(groups_.find(waiters_.find(asker)->second.group)->second.range);
    const auto [at, fresh] = pieces_.try_emplace(place);
    if (fresh) at->second = encoded(state.changes(place));
    answer(asker, at->second);
  }
}

const SharedBytes* WaitingReads::piece(const machine::ChangesAfter& place, const machine::Reads& state) {
  if (const auto found = pieces_.find(place); found != pieces_.end()) return &found->second;
  machine::Changes changes = state.changes(place);
  if (changes.at_end() && changes.changes.empty()) return nullptr;
  return &pieces_.emplace(place, encoded(std::move(changes))).first->second;
}

SharedBytes WaitingReads::encoded(machine::Changes changes) {
  ++encodings_;
  return SharedBytes::of(machine::encode_answer(std::move(changes)));
}

void WaitingReads::answer(const Asker& asker, const SharedBytes& bytes) {
  answers_.push_back({asker, waiters_.find(asker)->second.place, bytes});
  withdraw(asker);
}

}  // namespace coordkit::remote

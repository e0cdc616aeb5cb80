#include "client/watches/observers.h"

#include <algorithm>

namespace coordkit::client {

ObserverId Observers::add(Target target) {
  const ObserverId id(++last_id_);
  absl::btree_set<ObserverId>& same = by_place_[{target.kind, target.name}];
  if (same.empty()) interest_(target.kind, target.name, true);
  same.insert(id);
  all_[id].target = std::move(target);
  wanting_.insert(id);
  return id;
}

void Observers::remove(ObserverId id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return;
  const auto place = by_place_.find({found->second.target.kind, found->second.target.name});
  place->second.erase(id);
  if (place->second.empty()) {
    interest_(place->first.first, place->first.second, false);
    by_place_.erase(place);
  }
  wanting_.erase(id);
  waiting_.erase(id);
  const auto over = all_.extract(found);  // destroys user code only after it is removed from here
}

void Observers::clear() {
  for (const auto& [place, observers] : by_place_) interest_(place.first, place.second, false);
  const auto over = std::exchange(all_, {});  // as in remove()
  by_place_.clear();
  wanting_.clear();
  waiting_.clear();
}

std::vector<WantedSnapshot> Observers::to_ask() {
  std::vector<WantedSnapshot> out;
  if (wanting_.empty()) return out;
  for (const ObserverId id : std::exchange(wanting_, {})) {
    One& one = all_.find(id)->second;
    one.state = State::Asking;
    out.push_back({id, ++one.round, one.target.question});
  }
  return out;
}

// The answering state is the one after `index`. So all events above it are still to be delivered, and no others.
void Observers::answered(const WantedSnapshot& wanted, const SnapshotAnswer& answer, Index index) {
  One* one = asking(wanted);
  if (one == nullptr) return;
  one->state = State::Following;
  one->index = index;
  deliver(*one, one->target.snapshot(answer, std::exchange(one->seen, true) ? Seen::Resync : Seen::Snapshot, index));
}

void Observers::failed(const WantedSnapshot& wanted) {
  One* one = asking(wanted);
  if (one == nullptr) return;
  one->state = State::Failed;
  waiting_.insert(wanted.id);
}

Observers::One* Observers::asking(const WantedSnapshot& wanted) {
  const auto found = all_.find(wanted.id);
  const bool current = found != all_.end() && found->second.state == State::Asking && found->second.round == wanted.round;
  return current ? &found->second : nullptr;
}

void Observers::changed(const coordination::Change& change, Index index) {
  const auto place = by_place_.find({change.kind, change.name});
  if (place == by_place_.end()) return;
  for (const ObserverId id : place->second) {
    One& one = all_.find(id)->second;
    const bool told = index <= one.index;
    if (one.state != State::Following || told) continue;
    // All changes of one entry are delivered, or none: a later snapshot then has a greater index.
    if (index != one.changed && one.waiting->load(std::memory_order_acquire) >= one.target.waiting_max) {
      one.state = State::Behind;
      waiting_.insert(id);
      continue;
    }
    one.changed = index;
    deliver(one, one.target.change(change, index));
  }
}

// A pending answer may have been given before the skipped entries; the answer to one more question is certainly newer. An
// answer that came together with the new state includes them.
void Observers::skipped(Index upto) {
  for (auto& [id, one] : all_) {
    const bool missed = one.state == State::Following && std::max(one.index, one.changed) < upto;
    if (!missed && one.state != State::Asking) continue;
    one.state = State::Wanting;
    wanting_.insert(id);
  }
}

void Observers::retry() {
  absl::btree_set<ObserverId> still;
  for (const ObserverId id : waiting_) {
    One& one = all_.find(id)->second;
    if (one.state == State::Behind && one.waiting->load(std::memory_order_acquire) != 0) {
      still.insert(id);
      continue;
    }
    one.state = State::Wanting;
    wanting_.insert(id);
  }
  waiting_ = std::move(still);
}

// A task counts until it begins, so that a task that throws no longer counts either.
void Observers::deliver(One& one, absl::AnyInvocable<void()> task) {
  one.waiting->fetch_add(1, std::memory_order_relaxed);
  deliveries_.announce([task = std::move(task), waiting = one.waiting]() mutable {
    waiting->fetch_sub(1, std::memory_order_release);
    task();
  });
}

}  // namespace coordkit::client

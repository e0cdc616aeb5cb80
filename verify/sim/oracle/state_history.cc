#include "sim/oracle/state_history.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace coordkit::sim {

template <typename T>
void StateHistory::append(History<T>& history, Index at, T value) {
  if (!history.empty() && history.back().first == at) {
    history.back().second = std::move(value);
  } else {
    history.emplace_back(at, std::move(value));
  }
}

template <typename T>
const T* StateHistory::look(const History<T>& history, Index at) {
  const auto after =
      std::upper_bound(history.begin(), history.end(), at, [](Index index, const auto& item) { return index < item.first; });
  return after == history.begin() ? nullptr : &std::prev(after)->second;
}

template <typename T>
bool StateHistory::was(const History<T>* history, Index from, const std::function<bool(const T&)>& like_this) {
  const T* at_first = history ? look(*history, from) : nullptr;
  if (like_this(at_first ? *at_first : T{})) return true;
  return history &&
         std::ranges::any_of(*history, [&](const auto& item) { return item.first > from && like_this(item.second); });
}

template <typename T>
std::vector<Index> StateHistory::changes(const History<T>& history, Index from) {
  std::vector<Index> out;
  for (const auto& [index, value] : history) {
    if (index > from) out.push_back(index);
  }
  return out;
}

void StateHistory::record(Index index, const LockModel& locks) {
  for (const std::string& name : locks.touched()) {
    LockLook look{.holds = locks.holds(name), .waiters = {}, .delayed = locks.delayed(name)};
    for (const LockModel::Claim& wait : locks.queue(name)) look.waiters.push_back(wait.request);
    append(locks_[name], index, std::move(look));
  }
}

void StateHistory::record(Index index, const CoordinationModel& coordination) {
  for (const CoordinationModel::Object& object : coordination.touched()) {
    append(objects_[object], index, coordination.look(object));
  }
}

void StateHistory::record(Index index, Revision revision, Revision compacted) {
  append(revisions_, index, revision);
  append(compactions_, index, compacted);
}

Revision StateHistory::revision_at(Index at) const {
  const Revision* revision = look(revisions_, at);
  return revision ? *revision : Revision(1);
}

Revision StateHistory::compacted_at(Index at) const {
  const Revision* compacted = look(compactions_, at);
  return compacted ? *compacted : Revision();
}

StateHistory::LockLook StateHistory::lock_at(const std::string& name, Index at) const {
  const auto history = locks_.find(name);
  if (history == locks_.end()) return {};
  const LockLook* found = look(history->second, at);
  return found ? *found : LockLook{};
}

machine::ObjectView StateHistory::object_at(const CoordinationModel::Object& object, Index at) const {
  const auto history = objects_.find(object);
  if (history == objects_.end()) return {};
  const machine::ObjectView* found = look(history->second, at);
  return found ? *found : machine::ObjectView{};
}

bool StateHistory::object_was(const CoordinationModel::Object& object, Index from,
                              const std::function<bool(const machine::ObjectView&)>& like_this) const {
  const auto history = objects_.find(object);
  return was<machine::ObjectView>(history == objects_.end() ? nullptr : &history->second, from, like_this);
}

bool StateHistory::lock_was(const std::string& name, Index from, const std::function<bool(const LockLook&)>& like_this) const {
  const auto history = locks_.find(name);
  return was<LockLook>(history == locks_.end() ? nullptr : &history->second, from, like_this);
}

std::vector<Index> StateHistory::object_changes(const CoordinationModel::Object& object, Index from) const {
  const auto history = objects_.find(object);
  return history == objects_.end() ? std::vector<Index>() : changes(history->second, from);
}

std::vector<Index> StateHistory::lock_changes(const std::string& name, Index from) const {
  const auto history = locks_.find(name);
  return history == locks_.end() ? std::vector<Index>() : changes(history->second, from);
}

}  // namespace coordkit::sim

// How the state was after each entry, as far as reads show it, so that one can be compared at the index it claims.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "machine/result.h"
#include "sim/locks/lock_model.h"
#include "sim/objects/coordination_model.h"

namespace coordkit::sim {

class StateHistory {
 public:
  struct LockLook {
    std::vector<LockModel::Claim> holds;  // in grant order
    std::vector<RequestId> waiters;
    bool delayed = false;
  };

  // After the entry at `index`: what it touched.
  void record(Index index, const LockModel& locks);
  void record(Index index, const CoordinationModel& coordination);
  void record(Index index, Revision revision, Revision compacted);

  // As it was after `at`.
  Revision compacted_at(Index at) const;
  Revision revision_at(Index at) const;
  LockLook lock_at(const std::string& name, Index at) const;
  machine::ObjectView object_at(const CoordinationModel::Object& object, Index at) const;
  // Whether it was like this after some entry from `from` on.
  bool object_was(const CoordinationModel::Object& object, Index from,
                  const std::function<bool(const machine::ObjectView&)>& like_this) const;
  bool lock_was(const std::string& name, Index from, const std::function<bool(const LockLook&)>& like_this) const;
  // The entries after `from` that touched it, ascending.
  std::vector<Index> object_changes(const CoordinationModel::Object& object, Index from) const;
  std::vector<Index> lock_changes(const std::string& name, Index from) const;

 private:
  template <typename T>
  using History = std::vector<std::pair<Index, T>>;  // ascending
  template <typename T>
  static const T* look(const History<T>& history, Index at);
  template <typename T>
  static void append(History<T>& history, Index at, T value);
  template <typename T>
  static std::vector<Index> changes(const History<T>& history, Index from);
  template <typename T>
  static bool was(const History<T>* history, Index from, const std::function<bool(const T&)>& like_this);

  std::map<std::string, History<LockLook>> locks_;
  std::map<CoordinationModel::Object, History<machine::ObjectView>> objects_;
  History<Revision> revisions_;
  History<Revision> compactions_;
};

}  // namespace coordkit::sim

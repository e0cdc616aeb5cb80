// The entry that the naive twins of semaphores, barriers and the like execute, and what it does to them: which objects it
// touches, and whose waits it ends.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordination/step.h"
#include "coordkit/types.h"
#include "sim/locks/lock_model.h"

namespace coordkit::sim {

struct CoordinationEntry {
  using Object = std::pair<coordination::Kind, std::string>;

  void touch(coordination::Kind kind, const std::string& name) { touched.emplace(kind, name); }

  Index index;
  RequestId request;
  std::set<Object> touched;
  std::vector<LockModel::Ended> ended;
};

}  // namespace coordkit::sim

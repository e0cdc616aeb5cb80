// Random steps over few keys, so that they interact: most are valid, some are wrong in one way.
#pragma once

#include "base/random.h"
#include "tools/differential/step.h"

namespace coordkit::differential {

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  // `now` is the newest revision, `compacted` the last compaction's.
  Step step(Revision now, Revision compacted);

 private:
  std::string key();
  std::string end_of(const std::string& key);
  Revision revision(Revision now, Revision compacted);
  LeaseId lease();
  RangeOperation range(Revision now, Revision compacted);
  PutOperation put();
  DeleteOperation erase();
  Compare compare(Revision now);
  Transaction transaction(Revision now, Revision compacted, int depth);
  Operation operation(Revision now, Revision compacted, int depth);
  Step rare(Revision now, Revision compacted);

  Random random_;
};

}  // namespace coordkit::differential

// Revisions against real time, over all keys. A call that begins after a revision was reported must not report a lower one. A
// change that begins after it must get a higher one. No revision is given to two changes.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "check/order.h"

namespace coordkit::check {

struct KvCall;

class RevisionOrder {
 public:
  using Ref = OperationRef<KvCall>;

  // Must be called in order of calls.
  std::optional<Clash<KvCall>> called(const Ref& op);
  size_t live() const { return open_.size() + changes_.size(); }

 private:
  void end_before(Moment until);

  std::vector<Ref> open_;            // a heap: the earliest end first
  Ref highest_;                      // of those that ended, the one with the highest revision
  std::map<uint64_t, Ref> changes_;  // by revision, above those that every later call must exceed
};

}  // namespace coordkit::check

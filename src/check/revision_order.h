// Revisions against real time, over all keys: who begins after somebody was told a revision is told none below it, and
// whoever changes something after that gets one above. No revision is given to two changes.
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

  // In order of calls.
  std::optional<Clash<KvCall>> called(const Ref& op);
  size_t live() const { return open_.size() + changes_.size(); }

 private:
  void settle(Moment until);

  std::vector<Ref> open_;            // a heap: the earliest end first
  Ref highest_;                      // of those that ended, the one that was told most
  std::map<uint64_t, Ref> changes_;  // by revision, above what was told to everybody
};

}  // namespace coordkit::check

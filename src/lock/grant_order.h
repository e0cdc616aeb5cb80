// S-48: the wait queued first is granted first, over all names. A grant can make only the next ones in the same queues
// grantable, so the candidates are the heads of queues: of those that a step touched, then of those that a grant moved on.
#pragma once

#include <utility>
#include <vector>

#include "lock/claim.h"

namespace coordkit::lock {

class GrantOrder {
 public:
  void nominate(const Lock& lock);  // the head of its queue
  // The next one to be granted; null: none is grantable. Its locks are to be nominated again afterwards.
  Claim* next();

 private:
  // A heap; its memory serves step after step. A multi-lock may be in it several times, and the wait of one that is granted by
  // then is over; so the order is kept beside it.
  std::vector<std::pair<Index, Claim*>> candidates_;
};

}  // namespace coordkit::lock

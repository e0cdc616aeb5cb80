// S-48: the wait queued first is granted first, over all names. A grant can make only the next waits in the same queues
// grantable. So the candidates are the heads of queues. First come the locks that a step touched, then the locks whose queue
// a grant shortened.
#pragma once

#include <utility>
#include <vector>

#include "lock/claim.h"

namespace coordkit::lock {

class GrantOrder {
 public:
  void nominate(const Lock& lock);  // the head of its queue
  // The next wait to be granted; null: none is grantable. The caller must nominate its locks again afterwards.
  Claim* next();

 private:
  // A heap whose memory serves step after step. A multi-lock may be in it several times. If it has been granted, its wait is
  // over while entries remain. A grant changes Claim::since, so each entry keeps the value with which the wait was queued.
  std::vector<std::pair<Index, Claim*>> candidates_;
};

}  // namespace coordkit::lock

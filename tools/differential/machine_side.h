// coordkit's side: its machine, given commands as the log gives them and read as a client reads it. Only the client's checks
// of its calls are left out, which refuse by the same predicates.
#pragma once

#include "coordkit/types.h"
#include "machine/machine.h"
#include "tools/differential/step.h"

namespace coordkit::differential {

class MachineSide final : public Side {
 public:
  MachineSide();
  Answer take(const Step& step) override;
  Revision revision() const { return revision_; }
  Revision compacted() const { return compacted_; }

 private:
  machine::Result apply(machine::Request::Body body);

  Answer take_one(const RangeOperation& range);
  Answer take_one(const PutOperation& put);
  Answer take_one(const DeleteOperation& erase);
  Answer take_one(const Transaction& transaction);
  Answer take_one(const Compact& compact);
  Answer take_one(const GrantLease& grant);
  Answer take_one(const RenewLease& renew);
  Answer take_one(const RevokeLease& revoke);
  Answer take_one(const ListKeysOfLease& list);
  Answer take_one(const ListLeases& list);
  Answer take_one(const WatchFrom& watch);

  machine::Machine machine_;
  Index index_;
  Revision revision_{1};
  Revision compacted_;
};

}  // namespace coordkit::differential

// coordkit's side: the revisioned store itself, with the leases as far as keys know them.
#pragma once

#include <set>

#include "mvcc/store.h"
#include "mvcc/transaction.h"
#include "tools/differential/step.h"

namespace coordkit::differential {

class StoreSide final : public Side {
 public:
  Answer take(const Step& step) override;
  Revision revision() const { return store_.revision(); }
  Revision compacted() const { return store_.compacted(); }

 private:
  template <typename Form>
  Answer answer(mvcc::Refusal refusal, Form form) const;

  Answer take_one(const RangeOperation& range);
  Answer take_one(const PutOperation& put);
  Answer take_one(const DeleteOperation& erase);
  Answer take_one(const Transaction& transaction);
  Answer take_one(const Compact& compact);
  Answer take_one(const GrantLease& grant);
  Answer take_one(const RevokeLease& revoke);
  Answer take_one(const ListKeysOfLease& list);
  Answer take_one(const WatchFrom& watch);

  mvcc::Store store_;
  std::set<LeaseId> leases_;
};

}  // namespace coordkit::differential

// Fills an empty lock table from the rows of a checkpoint: delays, then holds, then waiters, each in ascending order of their
// ids. A row that no table could have is kDataLoss; then the table is of no use.
#pragma once

#include "absl/status/status.h"
#include "lock/claims.h"
#include "lock/delays.h"

namespace coordkit::lock {

class TableRestore {
 public:
  TableRestore(Claims& claims, Delays& delays) : claims_(claims), delays_(delays) {}

  absl::Status add(const DelayView& row) { return delays_.restore(row, claims_); }
  absl::Status add(const ClaimView& row);
  absl::Status finish() const;  // kDataLoss: the rows contradict each other (INV_L06)

 private:
  absl::Status check_order(const ClaimView& row) const;
  absl::Status check_place(const ClaimView& row, const Wanted& place);

  Claims& claims_;
  Delays& delays_;
  Token last_hold_;
};

}  // namespace coordkit::lock

// Claims with records as rows: the digest over all of them, and the rows that changed since the last checkpoint. A claim that
// comes and goes between two checkpoints leaves nothing behind (REG_F76).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lock/claim_view.h"

namespace coordkit::lock {

class RowChanges {
 public:
  // The digest alone.
  void add(const ClaimView& row) { digest_ += claim_hash(row); }
  void subtract(const ClaimView& row) { digest_ -= claim_hash(row); }
  uint64_t digest() const { return digest_; }

  // Changes something in the claim's row.
  template <typename Change>
  void rewrite(Claim& claim, Change change) {
    subtract(view_of(claim));
    change(claim);
    add(view_of(claim));
    mark(claim);
  }

  // Decides whether the next checkpoint puts the row of this claim.
  void mark(Claim& claim);
  void unmark(Claim& claim);
  // If a checkpoint has the row, it must be erased: the claim ends or becomes another row.
  void erase(Claim& claim);
  void erase(RowId stored) { erased_.push_back(stored); }

  // ---- a checkpoint; rows that are taken count as stored from then on, and the lists release their memory
  std::vector<RowId> take_erased();    // ascending
  std::vector<Claim*> take_changed();  // ascending
  void forget_erased() { erased_.clear(); }

 private:
  std::vector<Claim*> changed_;
  std::vector<RowId> erased_;  // stored rows that are gone
  uint64_t digest_ = 0;        // sum of the hashes
};

}  // namespace coordkit::lock

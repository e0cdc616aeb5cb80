#include "lock/row_changes.h"

#include <algorithm>

namespace coordkit::lock {

void RowChanges::mark(Claim& claim) {
  if (claim.dirty_slot != 0) return;
  changed_.push_back(&claim);
  claim.dirty_slot = static_cast<uint32_t>(changed_.size());
}

// The last claim of the list takes its slot.
void RowChanges::unmark(Claim& claim) {
  if (claim.dirty_slot == 0) return;
  changed_.back()->dirty_slot = claim.dirty_slot;
  changed_[claim.dirty_slot - 1] = changed_.back();
  changed_.pop_back();
  claim.dirty_slot = 0;
}

void RowChanges::erase(Claim& claim) {
  if (claim.stored) erase(row_of(claim));
  claim.stored = false;
}

std::vector<RowId> RowChanges::take_erased() {
  std::ranges::sort(erased_);
  return std::exchange(erased_, {});
}

std::vector<Claim*> RowChanges::take_changed() {
  std::ranges::sort(changed_, {}, [](const Claim* claim) { return row_of(*claim); });
  for (Claim* claim : changed_) {
    claim->stored = true;
    claim->dirty_slot = 0;
  }
  return std::exchange(changed_, {});
}

}  // namespace coordkit::lock

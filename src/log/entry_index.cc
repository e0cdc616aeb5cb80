#include "log/entry_index.h"

namespace coordkit::log {

void EntryIndex::restart(Index base) {
  base_ = base;
  locations_.clear();
  holes_.clear();
}

void EntryIndex::append_hole(const DamagedEntry& hole, const Location& location) {
  append(location);
  holes_[hole.index] = hole;
}

void EntryIndex::repair(Index index, Term term, DiskPosition at, uint32_t bytes) {
  Location& repaired = locations_[index - base_ - 1];
  repaired.term = term;
  repaired.at = at;
  repaired.bytes = bytes;
  holes_.erase(index);
}

void EntryIndex::truncate(Index keep) {
  while (last() > keep) locations_.pop_back();
  holes_.erase(holes_.upper_bound(keep), holes_.end());
}

void EntryIndex::compact(Index through) {
  locations_.erase(locations_.begin(), locations_.begin() + static_cast<std::ptrdiff_t>(through - base_));
  holes_.erase(holes_.begin(), holes_.upper_bound(through));
  base_ = through;
}

const DamagedEntry* EntryIndex::hole(Index index) const {
  const auto found = holes_.find(index);
  return found == holes_.end() ? nullptr : &found->second;
}

}  // namespace coordkit::log

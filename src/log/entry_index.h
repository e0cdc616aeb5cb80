// The place of each entry's record, from the first entry after the log's base on. It also knows which entries this disk has
// lost: their places are holes until they are repaired.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "coordkit/ports/log_store.h"
#include "log/record.h"

namespace coordkit::log {

class EntryIndex {
 public:
  struct Location {
    Term term;
    DiskPosition at;
    uint32_t bytes = 0;  // of the record; 0: a hole
    uint32_t home = 0;   // the segment that held it first; rises with the index, as `at` does not after a repair
  };

  void restart(Index base);  // removes all entries; the next entry follows the base
  void append(const Location& location) { locations_.push_back(location); }
  void append_hole(const DamagedEntry& hole, const Location& location);
  // Puts the record in another place; the entry is no longer a hole.
  void repair(Index index, Term term, DiskPosition at, uint32_t bytes);
  void truncate(Index keep);    // the last entry that stays
  void compact(Index through);  // `through` becomes the base

  size_t memory_bytes() const { return locations_.size() * sizeof(Location); }
  bool empty() const { return locations_.empty(); }
  Index last() const { return base_ + locations_.size(); }
  bool contains(Index index) const { return index > base_ && index <= last(); }
  const Location& front() const { return locations_.front(); }
  const Location& operator[](Index index) const { return locations_[index - base_ - 1]; }
  const DamagedEntry* hole(Index index) const;  // the known facts about a lost entry; null: it is not lost

 private:
  Index base_;
  std::deque<Location> locations_;
  std::map<Index, DamagedEntry> holes_;
};

}  // namespace coordkit::log

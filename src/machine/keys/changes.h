// A piece of the history of the keys, for watches: changes from a place on, in order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordkit/types.h"

namespace coordkit::mvcc {
class Store;
}

namespace coordkit::machine {

// How much one answer covers; each limit lets at least one change through.
inline constexpr uint64_t kChangesMax = 1000;           // changes, of any key
inline constexpr uint64_t kChangesBytesMax = 4u << 20;  // of keys and values that are answered

struct ChangesAfter {
  Revision from;  // changes of this revision from `sub` on, and those of later revisions
  uint32_t sub = 0;
  std::string key;  // of the interval [key, end); both empty: of every key
  std::string end;
  bool previous = false;
  friend auto operator<=>(const ChangesAfter&, const ChangesAfter&) = default;
};

// A key after a change, or before it; version zero: deleted.
struct EntryRow {
  std::string key;  // not repeated in `previous`
  std::string value;
  Revision create;
  Revision mod;
  uint64_t version = 0;
  LeaseId lease;
  friend bool operator==(const EntryRow&, const EntryRow&) = default;
};

struct ChangeRow {
  EntryRow entry;
  std::vector<EntryRow> previous;  // one, or none: the key did not exist, or that state is compacted
  friend bool operator==(const ChangeRow&, const ChangeRow&) = default;
};

struct Changes {
  Revision revision;   // the newest
  Revision compacted;  // reads below it are refused
  bool gone = false;   // part of the requested history is no longer kept; then nothing else is answered
  std::vector<ChangeRow> changes;
  // Where to continue. Everything before was covered; `sub` zero: including all of the previous revision.
  Revision next;
  uint32_t next_sub = 0;

  bool at_end() const { return !gone && next_sub == 0 && next > revision; }  // everything that exists was covered
  friend bool operator==(const Changes&, const Changes&) = default;
};

Changes changes_of(const mvcc::Store& store, const ChangesAfter& place);

}  // namespace coordkit::machine

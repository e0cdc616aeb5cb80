// A piece of the history of the keys, for whoever watches them: changes from a place on, in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/types.h"

namespace coordkit::machine {

// How much one answer looks at; each of them lets at least one change through.
inline constexpr uint64_t kChangesMax = 1000;           // changes, of whatever key
inline constexpr uint64_t kChangesBytesMax = 4u << 20;  // of keys and values that are answered

struct ChangesQuery {
  Revision from;  // changes of this revision from `sub` on, and those of later ones
  uint64_t sub = 0;
  std::string key;  // of the interval [key, end); both empty: of every key
  std::string end;
  bool previous = false;
  static constexpr auto fields() {
    return std::tuple(&ChangesQuery::from, &ChangesQuery::sub, &ChangesQuery::key, &ChangesQuery::end, &ChangesQuery::previous);
  }
  friend bool operator==(const ChangesQuery&, const ChangesQuery&) = default;
};

// A key as a change left it, or as it was before; version zero: deleted.
struct EntryRow {
  std::string key;  // not repeated in `previous`
  std::string value;
  Revision create;
  Revision mod;
  uint64_t version = 0;
  LeaseId lease;
  static constexpr auto fields() {
    return std::tuple(&EntryRow::key, &EntryRow::value, &EntryRow::create, &EntryRow::mod, &EntryRow::version,
                      &EntryRow::lease);
  }
  friend bool operator==(const EntryRow&, const EntryRow&) = default;
};

struct ChangeRow {
  EntryRow entry;
  std::vector<EntryRow> previous;  // one, or none: there was no key, or that is compacted
  static constexpr auto fields() { return std::tuple(&ChangeRow::entry, &ChangeRow::previous); }
  friend bool operator==(const ChangeRow&, const ChangeRow&) = default;
};

struct ChangesReply {
  Revision revision;   // the newest
  Revision compacted;  // reads below it are refused
  bool gone = false;   // part of what was asked for is not kept any more; nothing else is answered then
  std::vector<ChangeRow> changes;
  // Where to go on. Everything before was looked at; `sub` zero: with all of the revision before.
  Revision next;
  uint64_t next_sub = 0;
  static constexpr auto fields() {
    return std::tuple(&ChangesReply::revision, &ChangesReply::compacted, &ChangesReply::gone, &ChangesReply::changes,
                      &ChangesReply::next, &ChangesReply::next_sub);
  }
  friend bool operator==(const ChangesReply&, const ChangesReply&) = default;
};

std::string encode(const ChangesReply& reply);
absl::StatusOr<ChangesReply> decode_changes(std::string_view bytes);  // kDataLoss: malformed

}  // namespace coordkit::machine

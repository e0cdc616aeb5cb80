// Records, of which segments are made (docs/format-log.md, byte by byte). A record is a fixed header and a payload, padded to
// eight bytes. Two sums guard it. The content sum is unkeyed and, for entries, the proposer's own. The header sum covers the
// header with the content sum in it, and is keyed by store, segment and file offset. So bytes never verify if they are from
// another store, from before recycling, or written to the wrong place.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "coordkit/raft/entry.h"
#include "coordkit/types.h"

namespace coordkit::log {

inline constexpr uint32_t kFormatVersion = 2;  // the newest; version 2 has runs, and marks that name entries in runs
inline constexpr size_t kBlockBytes = 4096;    // batches start on one, and no smaller unit is assumed to survive
inline constexpr size_t kRecordHeaderBytes = 56;
inline constexpr size_t kRecordAlignment = 8;

// The numbers are on disk: never reused.
enum class RecordKind : uint8_t {
  Entry = 1,
  HardState = 2,
  TruncateTo = 3,
  Mark = 4,
  SegmentHeader = 5,
  Repair = 6,
  Peers = 7,
  Run = 8,  // several entries (run.h)
};

constexpr bool holds_entry(RecordKind kind) { return kind == RecordKind::Entry || kind == RecordKind::Repair; }

constexpr size_t align_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }
constexpr size_t record_bytes(size_t payload) { return align_up(kRecordHeaderBytes + payload, kRecordAlignment); }

// A place in the files of the log. Segments are numbered from 1; zero means "nowhere".
struct DiskPosition {
  uint32_t segment = 0;
  uint32_t offset = 0;
  friend constexpr auto operator<=>(const DiskPosition&, const DiskPosition&) = default;
};

struct DiskRange {
  DiskPosition at;
  uint32_t bytes = 0;
};

// The key of the header sum, besides the offset.
struct RecordKey {
  StoreId store;
  uint32_t segment = 0;
};

struct Record {
  RecordKind kind = RecordKind::Entry;
  uint8_t detail = 0;  // Entry, Repair: its EntryKind. TruncateTo: a TruncateDetail. Else 0.
  GroupId group;
  Term term;
  Index index;
  DiskPosition mark;         // everything before it was durable when this record was written
  uint64_t content_sum = 0;  // Entry, Repair: the proposer's. Else: of the payload.
  std::string_view payload;
  std::string_view shared = {};  // entry in a run: the part of its payload that is in the table, not here
  uint8_t shared_at = 0;

  uint32_t offset = 0;          // where it was found; for an entry in a run, that of the run
  uint32_t run_bytes = 0;       // of that run; 0: the entry has a record of its own
  bool payload_intact = false;  // the content sum verified; for a run, that of its table
  size_t bytes() const { return run_bytes != 0 ? run_bytes : record_bytes(payload.size()); }
};

enum class TruncateDetail : uint8_t {
  Truncate = 0,  // entries above `index` are gone
  Reset = 1,     // all entries are gone; the log starts again after (index, term)
};

// Whether its content sum matches its payload.
bool content_verifies(const Record& record);
// The entry in this record.
raft::Entry entry_of(const Record& record);

// Appends the record to `out`, whose byte `out.size()` will be at `offset` of the segment. Fills in the header sum.
void append_record(std::string& out, const Record& record, const RecordKey& key, uint32_t offset);

// The record at `at` of `bytes`, which begin at `origin` of the segment; nullopt if no header verifies there. The bytes may
// be hostile.
std::optional<Record> parse_record(std::string_view bytes, size_t at, const RecordKey& key, uint32_t origin = 0);

}  // namespace coordkit::log

// Runs: entries that follow each other in one term and one write, in one record (docs/format-log.md). Its payload is a table
// and then the payloads of the entries, without the bytes near their beginning that all of them have, which are in the table:
// the commands of one process say there whose they are. The record's content sum is that of the table, which has the proposers'
// sums of the payloads: rot in a payload costs its entry alone, rot in header or table all of the run.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/raft/entry.h"
#include "log/record.h"

namespace coordkit::log {

inline constexpr size_t kRunPayloadsMax = 64 << 10;  // to read one entry all of its run is read
inline constexpr size_t kRunLineBytes = 12;          // of each entry in the table; no entry takes less anywhere

// How many of `entries` (there is one) are written as one record: 1 is no run. Around repaired ones there may be gaps.
size_t run_length(std::span<const raft::Entry> entries);
// The record of so many, but for what every record of a batch has. `payload` is what it views.
Record run_record(std::span<const raft::Entry> entries, std::string& payload);

// The part of a run's payload that its content sum covers; nothing where the payload cannot be one's.
std::string_view table_of_run(std::string_view payload);
// Appends its entries as records, each intact or not. None: its table is not intact.
void append_entries(const Record& run, std::vector<Record>& entries);

}  // namespace coordkit::log

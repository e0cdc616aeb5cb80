// Runs: entries that follow each other in one term and one write, in one record (docs/format-log.md). Its payload is a table
// and then the payloads of the entries. Bytes near their beginning that all payloads share are in the table instead: there
// the commands of one process name that process. The record's content sum is that of the table, and the table has the
// proposers' sums of the payloads. So rot in a payload costs only its entry; rot in header or table costs the whole run.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/raft/entry.h"
#include "log/record.h"

namespace coordkit::log {

inline constexpr size_t kRunPayloadsMax = 64 << 10;  // reading one entry reads its whole run
inline constexpr size_t kRunLineBytes = 12;          // of each entry in the table; no entry takes less anywhere

// How many of `entries` (at least one) are written as one record; 1 is no run. Around repaired entries there may be gaps.
size_t run_length(std::span<const raft::Entry> entries);
// The record of these entries, without the fields that every record of a batch has. It views `payload`.
Record run_record(std::span<const raft::Entry> entries, std::string& payload);

// The part of a run's payload that its content sum covers; empty if the payload cannot be that of a run.
std::string_view table_of_run(std::string_view payload);
// Appends the run's entries as records, each intact or not. It appends none if the table is not intact.
void append_entries(const Record& run, std::vector<Record>& entries);

}  // namespace coordkit::log

// Log entries for tests: intact ones, with content that depends on their place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordkit/export.h"
#include "coordkit/raft/entry.h"

namespace COORDKIT_EXPORT coordkit {

// The sum a proposer makes (src/base/sums.h); declared here because authors of log stores need it in tests.
uint64_t content_sum(GroupId group, Term term, Index index, raft::EntryKind kind, std::string_view payload);

namespace testing {

// Entries of the only group from `first` on, all of one term, with payloads of `bytes` bytes and correct content sums.
inline std::vector<raft::Entry> entries(uint64_t first, uint64_t count, uint64_t term, size_t bytes = 20) {
  std::vector<raft::Entry> made;
  for (uint64_t index = first; index < first + count; ++index) {
    std::string payload(bytes, static_cast<char>('a' + (index * 7 + term) % 26));
    raft::Entry entry{.index = Index(index), .term = Term(term), .payload = SharedBytes(std::move(payload))};
    entry.content_sum = content_sum(kOnlyGroup, entry.term, entry.index, entry.kind, entry.payload.view());
    made.push_back(std::move(entry));
  }
  return made;
}

}  // namespace testing
}  // namespace coordkit

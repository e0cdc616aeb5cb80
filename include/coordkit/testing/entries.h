// Log entries for tests: intact ones, with content that depends on their place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordkit/export.h"
#include "coordkit/raft/content_sum.h"

namespace COORDKIT_EXPORT coordkit {

namespace testkit {

// Entries of the only group from `first` on, all of one term, with payloads of `bytes` bytes and
// correct content sums.
inline std::vector<raft::Entry> entries(uint64_t first, uint64_t count, uint64_t term, size_t bytes = 20) {
  std::vector<raft::Entry> made;
  for (uint64_t index = first; index < first + count; ++index) {
    std::string payload(bytes, static_cast<char>('a' + (index * 7 + term) % 26));
    raft::Entry entry{.index = Index(index), .term = Term(term), .payload = SharedBytes(payload)};
    entry.content_sum = content_sum(kOnlyGroup, entry.term, entry.index, entry.kind, entry.payload.view());
    made.push_back(std::move(entry));
  }
  return made;
}

}  // namespace testkit
}  // namespace coordkit

// XXH3-64 sums. The content sum of an entry is unkeyed and made by the proposer. Everything on disk adds a sum keyed by its
// place, so that recycled or misplaced bytes never verify.
#pragma once

#include <cstdint>
#include <string_view>

#include "coordkit/raft/entry.h"
#include "coordkit/types.h"

namespace coordkit {

uint64_t hash_bytes(std::string_view bytes, uint64_t seed = 0);

// Mixes one more value into a running hash; the order matters.
constexpr uint64_t hash_mix(uint64_t state, uint64_t value) {
  state ^= value + 0x9e3779b97f4a7c15ULL + (state << 6) + (state >> 2);
  state *= 0xbf58476d1ce4e5b9ULL;
  return state ^ (state >> 31);
}

template <typename... Values>
constexpr uint64_t hash_mix_all(uint64_t state, Values... values) {
  ((state = hash_mix(state, values)), ...);
  return state;
}

uint64_t content_sum(GroupId group, Term term, Index index, raft::EntryKind kind, std::string_view payload);
inline bool content_intact(GroupId group, const raft::Entry& entry) {
  return entry.content_sum == content_sum(group, entry.term, entry.index, entry.kind, entry.payload.view());
}

}  // namespace coordkit

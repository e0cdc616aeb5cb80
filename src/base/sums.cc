#include "base/sums.h"

#define XXH_INLINE_ALL
#define XXH_NAMESPACE coordkit_
#include <xxhash.h>

#include "base/fixed.h"
#include "coordkit/raft/content_sum.h"

namespace coordkit {

uint64_t hash_bytes(std::string_view bytes, uint64_t seed) { return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed); }

uint64_t content_sum(GroupId group, Term term, Index index, raft::EntryKind kind, std::string_view payload) {
  char identity[25];
  store_u64(identity, group.value());
  store_u64(identity + 8, term.value());
  store_u64(identity + 16, index.value());
  identity[24] = static_cast<char>(kind);
  return hash_bytes(payload, hash_bytes({identity, sizeof identity}));
}

}  // namespace coordkit

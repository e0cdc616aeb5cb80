#include "log/identities.h"

#include "base/fixed.h"

namespace coordkit::log {
namespace {

constexpr size_t kRunBytes = 24;  // index and term of the first entry, count (4), zero (4); then the sums
constexpr size_t kSumBytes = 8;

size_t run_length(std::span<const Identity> identities) {
  size_t length = 1;
  while (length < identities.size() && identities[length].index == identities[length - 1].index.next() &&
         identities[length].term == identities.front().term) {
    ++length;
  }
  return length;
}

template <typename Each>
void each_run(std::span<const Identity> identities, Each each) {
  while (!identities.empty()) {
    const size_t length = run_length(identities);
    each(identities.first(length));
    identities = identities.subspan(length);
  }
}

bool load_each(std::string_view bytes, std::vector<Identity>& identities) {
  for (; bytes.size() >= kIdentityBytes; bytes.remove_prefix(kIdentityBytes)) {
    identities.push_back({Index(load_u64(bytes.data())), Term(load_u64(bytes.data() + 8)), load_u64(bytes.data() + 16)});
  }
  return bytes.empty();
}

bool load_runs(std::string_view bytes, std::vector<Identity>& identities) {
  while (bytes.size() >= kRunBytes) {
    Index index(load_u64(bytes.data()));
    const Term term(load_u64(bytes.data() + 8));
    const size_t end = kRunBytes + load_u32(bytes.data() + 16) * kSumBytes;
    if (end > bytes.size()) return false;
    for (size_t at = kRunBytes; at < end; at += kSumBytes, index = index.next()) {
      identities.push_back({index, term, load_u64(&bytes[at])});
    }
    bytes.remove_prefix(end);
  }
  return bytes.empty();
}

}  // namespace

size_t bytes_as(Names names, std::span<const Identity> identities) {
  if (names == Names::Each) return identities.size() * kIdentityBytes;
  size_t bytes = 0;
  each_run(identities, [&](std::span<const Identity> run) { bytes += kRunBytes + run.size() * kSumBytes; });
  return bytes;
}

Names shorter_names(std::span<const Identity> identities, uint32_t format) {
  const bool runs = format >= 2 && bytes_as(Names::Runs, identities) < bytes_as(Names::Each, identities);
  return runs ? Names::Runs : Names::Each;
}

void append_as(Names names, std::span<const Identity> identities, std::string& out) {
  if (names == Names::Each) {
    for (const Identity& identity : identities) {
      append_u64(out, identity.index.value());
      append_u64(out, identity.term.value());
      append_u64(out, identity.content_sum);
    }
    return;
  }
  each_run(identities, [&](std::span<const Identity> run) {
    append_u64(out, run.front().index.value());
    append_u64(out, run.front().term.value());
    append_u32(out, static_cast<uint32_t>(run.size()));
    append_u32(out, 0);
    for (const Identity& identity : run) append_u64(out, identity.content_sum);
  });
}

bool load_as(Names names, std::string_view bytes, size_t count, std::vector<Identity>& identities) {
  const bool whole = names == Names::Each   ? load_each(bytes, identities)
                     : names == Names::Runs ? load_runs(bytes, identities)
                                            : false;
  return whole && identities.size() == count;
}

}  // namespace coordkit::log

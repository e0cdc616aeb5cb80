#include "machine/keys/changes.h"

#include <algorithm>

#include "mvcc/store.h"

namespace coordkit::machine {
namespace {

EntryRow entry_of(const mvcc::Version& version) {
  return {.key = std::string(version.key()),
          .value = std::string(version.value()),
          .create = version.stamp.create,
          .mod = version.mod,
          .version = version.stamp.version,
          .lease = version.stamp.lease};
}

// S-24: absent if that revision can no longer be read, even if its value is still here.
void add_previous(const mvcc::Store& store, const mvcc::Version& version, ChangeRow& row) {
  const bool readable = version.mod.value() - 1 >= store.compacted().value();
  if (!readable || version.before == nullptr || version.before->deleted()) return;
  row.previous.push_back(entry_of(*version.before));
  row.previous.back().key.clear();
}

}  // namespace

Changes changes_of(const mvcc::Store& store, const ChangesAfter& place) {
  Changes reply{.revision = store.revision(), .compacted = store.compacted()};
  if (place.from < store.swept()) {
    reply.gone = true;
    return reply;
  }
  const mvcc::Interval interval = mvcc::Interval::of(place.key, place.key.empty() && place.end.empty() ? kNoEnd : place.end);
  reply.next = std::max(place.from, Revision(store.revision().value() + 1));
  uint64_t looked = 0;
  uint64_t bytes = 0;
  store.changes({place.from, place.sub}, [&](const mvcc::Version& version) {
    if (looked == kChangesMax || bytes >= kChangesBytesMax) {
      reply.next = version.mod;
      reply.next_sub = version.sub;
      return false;
    }
    ++looked;
    if (!interval.contains(version.key())) return true;
    ChangeRow& row = reply.changes.emplace_back(ChangeRow{entry_of(version), {}});
    if (place.previous) add_previous(store, version, row);
    bytes += row.entry.key.size() + row.entry.value.size() + (row.previous.empty() ? 0 : row.previous[0].value.size());
    return true;
  });
  return reply;
}

}  // namespace coordkit::machine

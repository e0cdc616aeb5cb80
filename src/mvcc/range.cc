#include "mvcc/range.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "mvcc/transaction.h"

namespace coordkit::mvcc {
namespace {

bool selected(const RangeOperation& range, const Version& version) {
  const auto within = [](Revision at, Revision min, Revision max) { return (!min || at >= min) && (!max || at <= max); };
  return within(version.mod, range.mod_min, range.mod_max) && within(version.stamp.create, range.create_min, range.create_max);
}

// Less than zero, zero, greater than zero, in the sort target.
int compare(SortTarget target, const Version& a, const Version& b) {
  const auto sign = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  switch (target) {
    case SortTarget::Key: return sign(a.key(), b.key());
    case SortTarget::Version: return sign(a.stamp.version, b.stamp.version);
    case SortTarget::Create: return sign(a.stamp.create, b.stamp.create);
    case SortTarget::Mod: return sign(a.mod, b.mod);
    case SortTarget::Value: return sign(a.value(), b.value());
  }
  return 0;
}

// S-07: entries equal in the target are ordered by key, ascending, even in a descending order.
void sort(const RangeOperation& range, std::vector<const Version*>& versions, size_t wanted) {
  const int direction = range.order == SortOrder::Descending ? -1 : 1;
  const auto before = [&](const Version* a, const Version* b) {
    const int order = compare(range.sort_by, *a, *b) * direction;
    return order != 0 ? order < 0 : a->key() < b->key();
  };
  const auto end = versions.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, versions.size()));
  std::partial_sort(versions.begin(), end, versions.end(), before);
}

class Filler {
 public:
  Filler(const RangeOperation& range, const RangeRoom& room, Selection& out) : range_(range), room_(room), out_(out) {}
  // Returns false, and cuts the selection, once the answer is full. The first entry always fits.
  bool add(const Version& version) {
    const size_t size = version.key().size() + (range_.keys_only ? 0 : version.value().size());
    const bool first = out_.reply.entries.empty();
    if (out_.reply.entries.size() == room_.entries || (!first && size > room_.bytes - taken_)) {
      out_.cut = true;
      return false;
    }
    taken_ += std::min(size, room_.bytes - taken_);
    KeyValue& entry = out_.reply.entries.emplace_back();
    entry = {std::string(version.key()), {}, version.stamp.create, version.mod, version.stamp.version, version.stamp.lease};
    if (!range_.keys_only) entry.value = version.value();
    return true;
  }

 private:
  const RangeOperation& range_;
  const RangeRoom& room_;
  Selection& out_;
  size_t taken_ = 0;
};

}  // namespace

bool in_key_order(const RangeOperation& range) {
  return range.sort_by == SortTarget::Key && range.order != SortOrder::Descending;
}

Refusal check(const RangeOperation& range) {
  if (const Refusal keys = check_interval(range.key, range.end); keys != Refusal::None) return keys;
  if (range.limit < 0 || range.revision.value() > uint64_t{INT64_MAX}) return Refusal::InvalidArgument;
  const bool known = range.sort_by <= SortTarget::Value && range.order <= SortOrder::Descending;
  return known ? Refusal::None : Refusal::InvalidSort;
}

// Needs one pass: in key order it takes the entries as they come, up to the limit, and only counts the rest.
Refusal select(const Store& store, const RangeOperation& range, const RangeRoom& room, Selection& out) {
  if (const Refusal refusal = store.readable(range.revision); refusal != Refusal::None) return refusal;
  const uint64_t limit = range.limit == 0 ? UINT64_MAX : static_cast<uint64_t>(range.limit);
  const bool sorted = in_key_order(range);
  Filler filler(range, room, out);
  std::vector<const Version*> versions;
  uint64_t matching = 0;
  store.scan(Interval::of(range.key, range.end), range.revision, [&](const Version& version) {
    ++out.reply.count;
    if (range.count_only || !selected(range, version)) return true;
    if (!sorted) versions.push_back(&version);
    if (sorted && matching < limit && !out.cut) filler.add(version);
    ++matching;
    return room.counts || !sorted || (matching <= limit && !out.cut);
  });
  if (!sorted) {
    const size_t wanted = std::min<uint64_t>(limit, versions.size());
    sort(range, versions, wanted);
    for (size_t i = 0; i < wanted && filler.add(*versions[i]); ++i) {
    }
  }
  out.reply.more = matching > limit || out.cut;
  return Refusal::None;
}

}  // namespace coordkit::mvcc

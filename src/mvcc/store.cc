#include "mvcc/store.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/sums.h"
#include "mvcc/version_hash.h"

namespace coordkit::mvcc {
namespace {

uint64_t weight_of(const Version& version) {
  return version.deleted() ? 0 : kChangeWeight + version.key().size() + version.size;
}

}  // namespace

// ---- reading

Refusal Store::readable(Revision at) const {
  if (!at) return Refusal::None;
  if (at > revision()) return Refusal::FutureRevision;
  return at < compacted() ? Refusal::Compacted : Refusal::None;
}

const Version* Store::find(std::string_view key, Revision at) const {
  const Key* const found = keys_.find(key);
  return found == nullptr ? nullptr : found->at(at ? at : revision());
}

uint64_t Store::scan(const Interval& interval, Revision at, absl::FunctionRef<bool(const Version&)> visit) const {
  const Revision wanted = at ? at : revision();
  uint64_t passed = 0;
  keys_.from(interval.from.key, [&](const Key& key) {
    if (interval.below(key.name())) return false;
    const Version* version = key.at(wanted, passed);
    return version == nullptr || visit(*version);
  });
  return passed;
}

void Store::changes(ChangeId from, absl::FunctionRef<bool(const Version&)> visit) const {
  COORDKIT_CHECK_MSG(from.revision >= swept(), "INV_K04");
  const auto first = std::ranges::partition_point(window_, [from](const Version* each) { return each->id() < from; });
  for (auto each = first; each != window_.end(); ++each) {
    if (!visit(**each)) return;
  }
}

std::vector<std::string> Store::attached(LeaseId lease) const {
  const auto found = attached_.find(lease);
  return found == attached_.end() ? std::vector<std::string>()
                                  : std::vector<std::string>(found->second.begin(), found->second.end());
}

void Store::attached(LeaseId lease, std::string_view after, absl::FunctionRef<bool(std::string_view)> visit) const {
  const auto found = attached_.find(lease);
  if (found == attached_.end()) return;
  for (auto key = found->second.upper_bound(after); key != found->second.end() && visit(*key); ++key) {
  }
}

void Store::every_lease(absl::FunctionRef<void(LeaseId)> visit) const {
  for (const auto& [lease, keys] : attached_) visit(lease);
}

// ---- changing

ChangeId Store::next(Change& change) {
  if (!change.any()) counters_.revision = revision().next();
  return {revision(), change.next_sub_++};
}

// S-02: the version counts from one since the key was made, and again after it was deleted.
void Store::put(Change& change, std::string_view key, std::string_view value, LeaseId lease) {
  Key& of = key_of(key);
  const Version* before = of.newest;
  const bool there = before != nullptr && !before->deleted();
  const ChangeId id = next(change);
  if (there) detach(*before);
  if (!there) ++size_;
  append(of, id, {there ? before->stamp.create : id.revision, there ? before->stamp.version + 1 : 1, lease}, value);
  attach(*of.newest);
}

// The key, with or without changes.
Key& Store::key_of(std::string_view name) {
  if (Key* const found = keys_.find(name)) return *found;
  Key& made = keys_.add(name);
  bytes_ += made.footprint();
  return made;
}

bool Store::erase(Change& change, std::string_view key) {
  Key* const found = keys_.find(key);
  const bool there = found != nullptr && !found->newest->deleted();
  if (!there) return false;
  detach(*found->newest);
  --size_;
  append(*found, next(change), {}, {});
  return true;
}

// S-16 lets a command change a key once, so a key's changes have different revisions.
void Store::append(Key& key, ChangeId id, const Stamp& stamp, std::string_view value) {
  COORDKIT_CHECK_MSG(key.newest == nullptr || key.newest->mod < id.revision, "INV_K02");
  Version* version = Version::make(id, stamp, value);
  version->of = &key;
  version->before = key.newest;
  key.newest = version;
  window_.push_back(version);
  ++versions_;
  bytes_ += Version::footprint(*version);
  weight_ += weight_of(*version);
  digest_ += hash_of(*version);
}

void Store::attach(const Version& version) {
  if (version.stamp.lease) attached_[version.stamp.lease].insert(version.key());
}

void Store::detach(const Version& version) {
  if (!version.stamp.lease) return;
  const auto found = attached_.find(version.stamp.lease);
  found->second.erase(version.key());
  if (found->second.empty()) attached_.erase(found);
}

// ---- compaction

Refusal Store::compact(Revision at) {
  if (!at) return Refusal::InvalidArgument;
  if (at <= compacted()) return Refusal::Compacted;
  if (at > revision()) return Refusal::FutureRevision;
  counters_.compacted = at;
  return Refusal::None;
}

size_t Store::to_sweep() const {
  return static_cast<size_t>(
      std::ranges::partition_point(window_, [this](const Version* each) { return each->mod < compacted(); }) - window_.begin());
}

// Keeps the changes that a read or a watch from compacted() on can still see (S-19). They are the newest change of every key
// up to there, and all changes above. If a change of exactly that revision replaced another, the next compaction removes the
// other.
void Store::sweep(size_t budget) {
  if (swept() == compacted()) return;
  weight_ += hidden();
  sweep_changes(budget);
  weight_ -= hidden();
}

// The weight of the changes that only the changes of revision swept() keep: they can no longer be read.
uint64_t Store::hidden() const {
  uint64_t weight = 0;
  for (const Version* version : window_) {
    if (version->mod != swept()) break;
    if (version->before != nullptr) weight += weight_of(*version->before);
  }
  return weight;
}

void Store::sweep_changes(size_t budget) {
  const Revision end = compacted();
  size_t taken = 0;
  while (swept() < end && taken < budget) {
    if (window_.empty() || window_.front()->mod >= end) {
      counters_.swept = compacted();
      return;
    }
    const Revision whole = window_.front()->mod;
    for (; !window_.empty() && window_.front()->mod == whole; ++taken) {
      Version& version = *window_.front();
      window_.pop_front();
      pass(version);
    }
    counters_.swept = whole.next();
  }
}

// Takes a change out of the window, and removes changes that were kept only for it. Its predecessor, which is at rest, is
// removed. The change itself is removed if it is the tombstone of a key that has not been created again.
void Store::pass(Version& version) {
  if (version.before != nullptr) drop(std::exchange(version.before, nullptr));
  if (version.deleted() && version.of->newest == &version) {
    Key& key = *version.of;
    bytes_ -= key.footprint();
    key.newest = nullptr;
    drop(&version);
    keys_.remove(key);
    return;
  }
  if (version.id() > stored_) unstored_.emplace_hint(unstored_.end(), version.id(), &version);
}

void Store::drop(Version* version) {
  digest_ -= hash_of(*version);
  bytes_ -= Version::footprint(*version);
  weight_ -= weight_of(*version);
  --versions_;
  if (unstored_.erase(version->id()) == 0 && version->id() <= stored_) erased_.push_back(version->id());
  Version::free(version);
}

}  // namespace coordkit::mvcc

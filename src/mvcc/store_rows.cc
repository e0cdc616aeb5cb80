// The store as rows of a checkpoint, out and in, and its digest.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "mvcc/store.h"
#include "mvcc/version_hash.h"

namespace coordkit::mvcc {
namespace {

// A sequence of changes has no gap: each change is the next of its revision, or the first of the next revision.
bool follows(ChangeId next, ChangeId last) {
  if (next.revision == last.revision) return next.sub == last.sub + 1;
  return next.revision == last.revision.next() && next.sub == 0;
}

}  // namespace

size_t Store::stored_in_window() const {
  const auto end = std::ranges::partition_point(window_, [this](const Version* each) { return each->id() <= stored_; });
  return static_cast<size_t>(end - window_.begin());
}

size_t Store::to_collect() const { return erased_.size() + unstored_.size() + window_.size() - stored_in_window(); }

void Store::collect(absl::FunctionRef<void(const Version&)> put, absl::FunctionRef<void(ChangeId)> erase) {
  std::vector<ChangeId> erased = std::exchange(erased_, {});  // a compaction lists many, and rarely
  std::ranges::sort(erased);
  for (const ChangeId id : erased) erase(id);
  for (const auto& [id, version] : unstored_) put(*version);
  unstored_.clear();
  for (auto each = window_.begin() + static_cast<ptrdiff_t>(stored_in_window()); each != window_.end(); ++each) put(**each);
  stored_ = {revision(), UINT32_MAX};
}

void Store::forget_stored() {
  stored_ = {};
  erased_.clear();
  unstored_.clear();
  keys_.each([this](const Key& key) {
    for (const Version* version = key.newest; version != nullptr; version = version->before) {
      if (version->mod < swept()) unstored_.emplace(version->id(), version);
    }
  });
}

absl::Status Store::restore_counters(const Counters& counters) {
  COORDKIT_CHECK_MSG(versions_ == 0, "restored into a store that has changes");
  if (!counters.revision || counters.compacted > counters.revision || counters.swept > counters.compacted) {
    return absl::DataLossError("a store with impossible revisions");
  }
  counters_ = counters;
  return absl::OkStatus();
}

absl::Status Store::check_place(const Row& row) const {
  if (row.key.empty()) return absl::DataLossError("a change of no key");
  if (row.id.revision <= Revision(1) || row.id.revision > revision()) {
    return absl::DataLossError("a change outside of the store's revisions");
  }
  if (row.id.revision < swept()) return absl::OkStatus();  // rows at rest are ordered by their own names
  const ChangeId first{std::max(swept(), Revision(2)), 0};
  const bool placed = window_.empty() ? row.id == first : follows(row.id, window_.back()->id());
  return placed ? absl::OkStatus() : absl::DataLossError("a gap between two changes");
}

// Checks which change may follow its predecessor of the same key.
absl::Status Store::check_stamp(const Row& row, const Version* before, bool at_rest) {
  const Stamp& stamp = row.stamp;
  if (before != nullptr && before->mod >= row.id.revision) return absl::DataLossError("a key changed twice in one revision");
  if (stamp.version == 0) {
    const bool bare = !stamp.create && !stamp.lease && row.value.empty();
    if (!bare) return absl::DataLossError("a tombstone with something on it");
    const bool possible = at_rest ? before == nullptr : before != nullptr && !before->deleted();
    return possible ? absl::OkStatus() : absl::DataLossError("a tombstone of a key that was not there");
  }
  const bool valid = stamp.create && stamp.create <= row.id.revision && stamp.version - 1 <= row.id.revision - stamp.create &&
                     (stamp.version == 1) == (stamp.create == row.id.revision);
  if (!valid) return absl::DataLossError("a key with impossible revisions");
  if (at_rest) return before == nullptr ? absl::OkStatus() : absl::DataLossError("two changes at rest of one key");
  if (before == nullptr || before->deleted()) {
    return stamp.version == 1 ? absl::OkStatus() : absl::DataLossError("a key without its first version");
  }
  const bool goes_on = stamp.version == before->stamp.version + 1 && stamp.create == before->stamp.create;
  return goes_on ? absl::OkStatus() : absl::DataLossError("a key that does not continue its previous version");
}

absl::Status Store::restore(const Row& row) {
  if (absl::Status place = check_place(row); !place.ok()) return place;
  const bool at_rest = row.id.revision < swept();
  const Key* const found = keys_.find(row.key);
  const Version* before = found == nullptr ? nullptr : found->newest;
  if (absl::Status stamp = check_stamp(row, before, at_rest); !stamp.ok()) return stamp;
  Key& key = key_of(row.key);
  if (before != nullptr && !before->deleted()) {
    detach(*before);
    --size_;
  }
  append(key, row.id, row.stamp, row.value);
  if (!key.newest->deleted()) {
    attach(*key.newest);
    ++size_;
  }
  if (at_rest) window_.pop_back();
  return absl::OkStatus();
}

absl::Status Store::restored() {
  const Revision last = window_.empty() ? Revision(1) : window_.back()->mod;
  if (last != revision()) return absl::DataLossError("the newest changes are missing");
  bool needless = false;
  keys_.each([&](const Key& key) { needless = needless || (key.newest->deleted() && key.newest->mod < swept()); });
  if (needless) return absl::DataLossError("a tombstone at rest for nothing");
  weight_ -= hidden();
  stored_ = {revision(), UINT32_MAX};
  return absl::OkStatus();
}

namespace {

uint64_t counters_hash(const Store::Counters& counters) {
  return hash_mix(hash_mix(hash_mix(0x72657673, counters.revision.value()), counters.compacted.value()),
                  counters.swept.value());
}

}  // namespace

uint64_t Store::digest() const { return digest_ + counters_hash(counters_); }

uint64_t Store::recomputed_digest() const {
  uint64_t sum = counters_hash(counters_);
  keys_.each([&](const Key& key) {
    for (const Version* version = key.newest; version != nullptr; version = version->before) sum += hash_of(*version);
  });
  return sum;
}

}  // namespace coordkit::mvcc
